"""What operators do with a reason: pause, approve, reject, explain, void; asked, done, recorded."""

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.urls import reverse

from contracts.models import Chain, Node, Withdrawal
from contracts.withdrawals import pending_account
from matches.models import Match
from tests.site.admin_world import World, a_withdrawal, an_operator, number
from wallets import ledger
from wallets.models import Transfer

pytestmark = pytest.mark.django_db

# Model, action, and the permission that it takes.
ACTIONS = (
    ("chain", "pause", "change_chain"),
    ("chain", "unpause", "change_chain"),
    ("withdrawal", "approve", "decide_withdrawal"),
    ("withdrawal", "reject", "decide_withdrawal"),
    ("redemption", "explain", "explain_redemption"),
    ("match", "void", "void_match"),
)


@pytest.fixture
def world() -> World:
    world = World()
    # With its credits held, as one that a player has asked for.
    ledger.move(
        kind=Transfer.Kind.WITHDRAWAL,
        key=f"withdrawal:{world.withdrawal.pk}",
        source=ledger.player_account(world.player),
        target=pending_account(world.withdrawal),
        amount=world.withdrawal.credits,
    )
    return world


def row_of(world, model):
    return {
        "chain": world.chain,
        "withdrawal": world.withdrawal,
        "redemption": world.redemption,
        "match": world.running,
    }[model]


def url(row, action: str) -> str:
    meta = row._meta
    return reverse(f"admin:{meta.app_label}_{meta.model_name}_{action}", args=[row.pk])


def page(row) -> str:
    return url(row, "change")


def allowed(client, *codenames: str):
    operator = an_operator()
    views = ("view_chain", "view_withdrawal", "view_redemption", "view_match", "view_node")
    operator.user_permissions.set(Permission.objects.filter(codename__in=(*views, *codenames)))
    client.force_login(operator)
    return operator


def recorded(operator) -> str:
    (entry,) = LogEntry.objects.filter(user=operator)
    return entry.get_change_message()


@pytest.mark.parametrize(("model", "action", "permission"), ACTIONS)
def test_an_action_takes_its_permission(world, client, model, action, permission):
    row = row_of(world, model)
    if action == "unpause":
        Chain.objects.update(paused=True)
    others = {p for _, _, p in ACTIONS} - {permission}
    allowed(client, *others)
    assert url(row, action) not in client.get(page(row)).content.decode()
    assert client.get(url(row, action)).status_code == 403
    assert client.post(url(row, action), {"reason": "because"}).status_code == 403

    operator = allowed(client, permission)
    assert url(row, action) in client.get(page(row)).content.decode()
    asked = client.get(url(row, action))
    assert asked.status_code == 200
    assert "csrfmiddlewaretoken" in asked.content.decode()
    assert not LogEntry.objects.filter(user=operator).exists()
    assert client.post(url(row, action), {"reason": "because"}).url == page(row)
    assert recorded(operator).endswith(": because")


@pytest.mark.parametrize(("model", "action", "permission"), ACTIONS)
@pytest.mark.parametrize("reason", ["", "   ", "x" * 301, "a\0b"])
def test_nothing_is_done_without_a_reason(world, client, model, action, permission, reason):
    row = row_of(world, model)
    operator = allowed(client, permission)
    before = type(row).objects.filter(pk=row.pk).values().get()
    assert client.post(url(row, action), {"reason": reason}).status_code == 200
    assert type(row).objects.filter(pk=row.pk).values().get() == before
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
    assert LogEntry.objects.filter(object_id=world.withdrawal.pk).count() == 2


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
