"""What operators do with a reason: each action, its permission, each role; done and recorded."""

import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, Permission
from django.db import transaction
from django.db.models import Q
from django.test import Client
from django.urls import reverse

from bas_site import tasks
from bas_site.roles import ROLES, ensure_roles, views
from contracts.models import Chain, Node, Rescan, Withdrawal
from matches.models import Match
from tests.site.admin_world import World, a_withdrawal, an_operator, hold_credits, number
from tests.site.console_actions import ACTIONS, page, url
from wallets import ledger
from wallets.models import Adjustment, Service, Wallet

pytestmark = pytest.mark.django_db

# What has to be so for some of them to be possible.
BEFORE = {
    "thaw": lambda: Wallet.objects.filter(is_staff=False).update(is_active=False),
    "resume": lambda: Service.objects.update(pause_reason="stormy"),
    "unpause": lambda: Chain.objects.update(paused=True),
}
every_action = pytest.mark.parametrize(("model", "action", "permission", "said"), ACTIONS)


@pytest.fixture
def world() -> World:
    world = World()
    hold_credits(world.withdrawal)
    return world


def row_of(world, model):
    """What an action is done to; nothing for an action of a list."""
    return {
        "wallet": world.player,
        **{service.pk: service for service in Service.objects.all()},
        "chain": world.chain,
        "withdrawal": world.withdrawal,
        "redemption": world.redemption,
        "adjustment": Adjustment.objects.first(),
        "match": world.running,
        "auditrun": None,
    }[model]


def allowed(client, *codenames: str):
    operator = an_operator()
    views = Q(codename__startswith="view_")
    permissions = Permission.objects.filter(views | Q(codename__in=codenames))
    operator.user_permissions.set(permissions)
    client.force_login(operator)
    return operator


def recorded(operator) -> str:
    (entry,) = LogEntry.objects.filter(user=operator)
    return entry.get_change_message()


@every_action
def test_an_action_takes_its_permission(world, client, model, action, permission, said):
    BEFORE.get(action, int)()
    row = row_of(world, model)
    form = said | {"reason": "because"}
    others = {p for _, _, p, _ in ACTIONS} - {permission}
    allowed(client, *others)
    assert url(row, action) not in client.get(page(row)).content.decode()
    assert client.get(url(row, action)).status_code == 403
    assert client.post(url(row, action), form).status_code == 403

    operator = allowed(client, permission)
    assert url(row, action) in client.get(page(row)).content.decode()
    asked = client.get(url(row, action))
    assert asked.status_code == 200
    assert "csrfmiddlewaretoken" in asked.content.decode()
    assert not LogEntry.objects.filter(user=operator).exists()
    assert client.post(url(row, action), form).url == page(row)
    words = recorded(operator)
    assert words.endswith("because")
    assert all(f"{name} {value}" in words for name, value in said.items())


@pytest.mark.parametrize("role", ROLES)
def test_a_role_may_do_what_its_row_says_and_nothing_else(world, client, role):
    ensure_roles()
    operator = an_operator()
    operator.groups.add(Group.objects.get(name=role))
    client.force_login(operator)
    granted = {name.partition(".")[2] for name in ROLES[role]}
    for model, action, permission, said in ACTIONS:
        with transaction.atomic():
            BEFORE.get(action, int)()
            row = row_of(world, model)
            assert client.get(page(row)).status_code == 200
            answer = client.post(url(row, action), said | {"reason": "because"})
            expected = 302 if permission in granted else 403
            assert answer.status_code == expected, (role, action)
            did = LogEntry.objects.filter(user=operator).exists()
            assert did == (permission in granted), (role, action)
            transaction.set_rollback(True)


@every_action
def test_nothing_is_done_without_a_reason(world, client, model, action, permission, said):
    row = row_of(world, model)
    operator = allowed(client, permission)
    before = row and type(row).objects.filter(pk=row.pk).values().get()
    for reason in ("", "   ", "x" * 301, "a\0b"):
        answer = client.post(url(row, action), said | {"reason": reason})
        assert answer.status_code == 200, reason
        assert (row and type(row).objects.filter(pk=row.pk).values().get()) == before
    assert not LogEntry.objects.filter(user=operator).exists()


def test_an_action_on_nothing_is_not_found(world, client):
    allowed(client, "void_match", "decide_withdrawal")
    world.withdrawal.pk = 10**9
    assert client.get(url(world.withdrawal, "approve")).status_code == 404


def test_a_chain_is_paused_and_goes_on(world, client):
    allowed(client, "change_chain")
    client.post(url(world.chain, "pause"), {"reason": "the node lies"})
    assert Chain.objects.get(pk=world.chain.pk).paused
    html = client.get(page(world.chain)).content.decode()
    assert url(world.chain, "pause") not in html
    client.post(url(world.chain, "unpause"), {"reason": "another node"})
    assert not Chain.objects.get(pk=world.chain.pk).paused


def test_an_approved_withdrawal_names_who_approved_it(world, client):
    operator = allowed(client, "decide_withdrawal")
    client.post(url(world.withdrawal, "approve"), {"reason": "known to us"})
    withdrawal = Withdrawal.objects.get(pk=world.withdrawal.pk)
    assert (withdrawal.status, withdrawal.decided_by) == ("approved", operator)
    assert operator.username in client.get(page(withdrawal)).content.decode()


def test_a_rejected_withdrawal_gives_the_credits_back_once(world, client):
    allowed(client, "decide_withdrawal")
    before = ledger.balance(ledger.player_account(world.player))
    for _ in range(2):
        client.post(url(world.withdrawal, "reject"), {"reason": "stolen"})
    assert Withdrawal.objects.get(pk=world.withdrawal.pk).status == "rejected"
    assert ledger.balance(ledger.player_account(world.player)) == before + 1_500
    answer = client.post(url(world.withdrawal, "approve"), {"reason": "after all"}, follow=True)
    assert "decided already" in answer.content.decode()
    assert LogEntry.objects.filter(object_id=world.withdrawal.pk).count() == 1


def test_a_signed_withdrawal_has_no_way_back(world, client):
    allowed(client, "decide_withdrawal")
    signed = a_withdrawal(world.vault, world.player, status="redeemed")
    html = client.get(page(signed)).content.decode()
    assert url(signed, "approve") not in html
    assert url(signed, "reject") not in html


def test_an_explained_redemption_is_no_trouble_any_more(world, client):
    operator = allowed(client, "explain_redemption")
    client.post(url(world.redemption, "explain"), {"reason": "a test of ours"})
    world.redemption.refresh_from_db()
    assert world.redemption.explanation == "a test of ours"
    assert world.redemption.explained_by == operator


def test_a_voided_match_gives_both_stakes_back_and_says_why(world, client):
    operator = allowed(client, "void_match")
    client.post(url(world.running, "void"), {"reason": "a fault of ours"})
    match = Match.objects.get(pk=world.running.pk)
    assert (match.status, match.void_reason) == ("cancelled", "a fault of ours")
    assert not match.seats.filter(staked__gt=0).exists()
    assert "a fault of ours" in client.get(page(match)).content.decode()
    again = client.post(url(match, "void"), {"reason": "twice"}, follow=True)
    assert "not running" in again.content.decode()
    assert LogEntry.objects.filter(user=operator).count() == 1


def test_a_chain_shows_how_far_it_is_behind_and_what_waits(world, client):
    allowed(client)
    Chain.objects.filter(pk=world.chain.pk).update(reorgs=7_777, deepest_reorg=6_666)
    html = client.get(page(world.chain)).content.decode()
    for text in (world.chain.scanned_hash, "7\u202f777", "6\u202f666", "Blocks behind"):
        assert text in html


def test_a_node_shows_its_failures_and_never_its_url(world, client, settings):
    secret = f"key{number()}"
    settings.CHAIN_RPC_URLS = [f"https://node.example/{secret}"]
    allowed(client)
    node = Node.objects.first()
    html = client.get(page(node)).content.decode()
    assert "time_out" in html
    assert secret not in html
    assert "node.example" not in html


def test_a_frozen_player_is_logged_out_until_thawed(world, client):
    allowed(client, "freeze_wallet")
    players = Client()
    players.force_login(world.player)
    assert players.get("/api/v1/auth/me").status_code == 200
    client.post(url(world.player, "freeze"), {"reason": "stolen key"})
    assert players.get("/api/v1/auth/me").status_code in (401, 403)
    html = client.get(page(world.player)).content.decode()
    assert "frozen" in html
    assert url(world.player, "freeze") not in html
    client.post(url(world.player, "thaw"), {"reason": "it was not"})
    assert Wallet.objects.get(pk=world.player.pk).is_active


def test_no_action_freezes_an_operator(world, client):
    allowed(client, "freeze_wallet")
    assert url(world.superuser, "freeze") not in client.get(page(world.superuser)).content.decode()
    answer = client.post(url(world.superuser, "freeze"), {"reason": "a coup"}, follow=True)
    assert "There is no such thing" in answer.content.decode()
    assert Wallet.objects.get(pk=world.superuser.pk).is_active


def test_a_paused_service_says_so_and_by_whom_it_was_paused(world, client):
    operator = allowed(client, "pause_service")
    service = row_of(world, "deposits")
    client.post(url(service, "pause"), {"reason": "we move house"})
    for address in (page(service), reverse("admin:wallets_service_changelist"), "/admin/"):
        html = client.get(address).content.decode()
        assert "we move house" in html
        assert operator.username in html
    client.post(url(service, "resume"), {"reason": "we have moved"})
    assert "we move house" not in client.get(page(service)).content.decode()


@pytest.mark.parametrize(
    ("first", "last"), [(5, 4), (-1, 4), (0, 1_001), ("", 4), (0, ""), ("x", 4), (0, 10**30)]
)
def test_a_range_that_was_not_read_is_not_read_again(world, client, first, last):
    allowed(client, "rescan_chain")
    form = {"first": first, "last": last, "reason": "something is missing"}
    before = Rescan.objects.count()
    assert client.post(url(world.chain, "rescan"), form).status_code == 200
    assert Rescan.objects.count() == before


def test_an_audit_is_asked_for_once_it_is_recorded(
    world, client, monkeypatch, django_capture_on_commit_callbacks
):
    operator = allowed(client, "run_auditrun")
    handed = []
    monkeypatch.setattr(tasks.run_audit, "delay", lambda: handed.append(recorded(operator)))
    with django_capture_on_commit_callbacks(execute=True):
        client.post(url(None, "run"), {"reason": "I wonder"})
        assert handed == []
    assert handed == ["Audit now: I wonder"]


def test_the_permissions_of_roles_exist_and_admins_have_all_that_can_be_granted():
    ensure_roles()
    for role, granted in ROLES.items():
        held = Group.objects.get(name=role).permissions
        assert held.count() == len(views().union(granted)), role
    grantable = {
        f"{grant}_{model._meta.model_name}"
        for model, page in admin.site._registry.items()
        for grant in page.grants
    }
    admins = Group.objects.get(name="admin").permissions.values_list("codename", flat=True)
    assert grantable == set(admins)


def test_roles_are_put_back_to_their_rows():
    ensure_roles()
    viewer = Group.objects.get(name="viewer")
    viewer.permissions.set(Permission.objects.filter(codename="void_match"))
    ensure_roles()
    assert not viewer.permissions.filter(codename="void_match").exists()
    assert viewer.permissions.filter(codename="view_match").exists()
    assert Group.objects.count() == len(ROLES)
