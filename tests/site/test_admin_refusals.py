"""What operators may not do or see, and the few things that they may change."""

import re

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, Permission
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from contracts.models import (
    Block,
    Chain,
    Deposit,
    Node,
    Redemption,
    Rescan,
    Token,
    Vault,
    Withdrawal,
)
from matches.models import (
    Event,
    Heartbeat,
    LockIn,
    Match,
    Outage,
    RatedMatch,
    Rating,
    Seat,
)
from tests.site.admin_world import World, an_operator
from wallets.admin_base import ConsoleAdmin, list_of, page_of
from wallets.models import (
    Account,
    Asset,
    BearerToken,
    IdempotencyKey,
    LoginNonce,
    Posting,
    Service,
    Transfer,
    Wallet,
)

pytestmark = pytest.mark.django_db
MODELS = sorted(admin.site._registry, key=lambda model: model._meta.label)
READ_ONLY = [
    *(Account, Transfer, Posting, Asset, BearerToken, LogEntry),
    *(Deposit, Withdrawal, Redemption, Vault, Token, Block, Node, Rescan),
    *(Match, Rating, RatedMatch, Outage, Heartbeat, Service),
]
# Tables that no page may write; seats and events are on the page of their match.
KEPT = [*READ_ONLY, Seat, Event, LockIn]
PASSWORD = "a long enough passphrase 17"


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def console_client(client, world):
    client.force_login(world.superuser)
    return client


def url(model, view: str, *args) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{view}", args=args)


def rows_of(*models) -> dict:
    """Every column of every row."""
    return {model: list(model.objects.order_by("pk").values_list()) for model in models}


def every_field(model, row) -> dict[str, str]:
    """A form that changes each column, and each of the page's inline rows."""
    form = dict.fromkeys((field.name for field in model._meta.concrete_fields), "1")
    for inline in admin.site._registry[model].inlines:
        names = [field.name for field in inline.model._meta.concrete_fields]
        (link,) = (f for f in inline.model._meta.concrete_fields if f.related_model is model)
        prefix = link.remote_field.get_accessor_name()
        form |= {f"{prefix}-{n}-{name}": "1" for n in (0, 1) for name in names}
        form |= {
            f"{prefix}-TOTAL_FORMS": "2",
            f"{prefix}-INITIAL_FORMS": "1",
            f"{prefix}-0-id": str(getattr(row, prefix).first().pk),
            f"{prefix}-0-DELETE": "on",
        }
    return form


# --- Money and matches are read-only ----------------------------------------------------------
@pytest.fixture
def rows(world) -> dict:
    """A row of each read-only table, one with inline rows if its page has such."""
    rich = {Match: world.running, Transfer: world.many_legs, Vault: world.vault}
    return {model: rich.get(model) or model.objects.first() for model in READ_ONLY}


def test_no_superuser_writes_what_is_read_only(rows, console_client):
    before = rows_of(*KEPT)
    for model, row in rows.items():
        for path in (url(model, "add"), page_of(row), url(model, "delete", row.pk)):
            for data in ({}, every_field(model, row), {"post": "yes"}):
                assert console_client.post(path, data).status_code == 403, path
        assert console_client.get(url(model, "add")).status_code == 403
        assert console_client.get(url(model, "delete", row.pk)).status_code == 403
    assert rows_of(*KEPT) == before


def test_no_list_has_an_action_in_bulk(world, console_client):
    before = rows_of(*KEPT, Wallet, Chain, Group)
    for model in MODELS:
        keys = [str(pk) for pk in model.objects.values_list("pk", flat=True)[:2]]
        for extra in ({}, {"post": "yes"}, {"post": "yes", "select_across": "1"}):
            data = {"action": "delete_selected", "_selected_action": keys, "index": "0"} | extra
            response = console_client.post(list_of(model), data)
            assert b"Are you sure" not in response.content, model
        assert b"delete_selected" not in console_client.get(list_of(model)).content, model
    assert rows_of(*KEPT, Wallet, Chain, Group) == before


def test_a_read_only_page_offers_no_way_to_write(rows, console_client):
    harmless = re.compile(
        r"csrfmiddlewaretoken|.*-(?:TOTAL|INITIAL|MIN_NUM|MAX_NUM)_FORMS"
        r"|\w+-page|\w+-\d+-(?:id|transfer|match|vault)"
    )
    for row in rows.values():
        html = console_client.get(page_of(row)).content.decode()
        assert 'name="_save"' not in html
        assert "/delete/" not in html
        form = html[html.index('id="content-main"') :].partition("</form>")[0]
        inputs = re.findall(r'<(?:input|select|textarea)[^>]*name="([^"]+)"', form)
        assert [name for name in inputs if not harmless.fullmatch(name)] == []


def test_every_page_is_made_of_the_consoles_own_base():
    for model, page in admin.site._registry.items():
        assert isinstance(page, ConsoleAdmin), model
        assert page.fieldsets or model is Wallet, f"{model} shows whatever fields there are"


# --- What may be changed ----------------------------------------------------------------------
def test_nothing_of_a_player_is_changed_by_a_form(world, console_client):
    before = Wallet.objects.filter(pk=world.player.pk).values().get()
    forged = {
        "address": world.deposit.wallet.address[:-1] + "0",
        "username": "mallory",
        "is_active": "",
        "is_staff": "on",
        "is_superuser": "on",
        "password": "x",
        "available": "99",
        "groups": [world.group.pk],
    }
    assert console_client.post(page_of(world.player), forged).status_code == 403
    assert Wallet.objects.filter(pk=world.player.pk).values().get() == before
    assert not world.player.groups.exists()


def test_a_chains_policy_is_changed_and_nothing_else(world, console_client):
    before = Chain.objects.filter(pk=world.chain.pk).values().get()
    policy = {"finality": "safe", "confirmations": "12"}
    forged = dict.fromkeys(before, "77") | {"paused": "on"} | policy
    with CaptureQueriesContext(connection) as asked:
        assert console_client.post(page_of(world.chain), forged).status_code == 302
    after = Chain.objects.filter(pk=world.chain.pk).values().get()
    assert after == before | {"finality": "safe", "confirmations": 12}
    (update,) = (q["sql"] for q in asked if q["sql"].startswith('UPDATE "contracts_chain"'))
    # A watcher that moves its cursor between the operator's read and write must not be undone.
    assert "scanned" not in update
    assert "head_block" not in update


def test_a_deposit_waits_for_one_confirmation_at_least(world, console_client):
    for confirmations in ("0", "-1", "", "1.5", "many"):
        policy = {"finality": "confirmations", "confirmations": confirmations}
        response = console_client.post(page_of(world.chain), policy)
        assert response.status_code == 200
        assert Chain.objects.get(pk=world.chain.pk).confirmations == 3


@pytest.mark.parametrize("model", [Wallet, Chain], ids=["wallet", "chain"])
def test_neither_wallets_nor_chains_are_deleted(model, world, console_client):
    row = model.objects.first()
    for data in ({}, {"post": "yes"}):
        assert console_client.post(url(model, "delete", row.pk), data).status_code == 403
    assert model.objects.filter(pk=row.pk).exists()
    if model is Chain:
        assert console_client.post(url(Chain, "add"), {"id": 1}).status_code == 403


def test_a_superuser_makes_an_operator_who_can_log_in(world, console_client, client):
    form = {"username": "ada", "password1": PASSWORD, "password2": PASSWORD}
    response = console_client.post(url(Wallet, "add"), form)
    ada = Wallet.objects.get(username="ada")
    assert response.url == page_of(ada)
    assert ada.is_staff
    assert not ada.is_superuser
    assert ada.check_password(PASSWORD)
    assert LogEntry.objects.order_by("pk").last().object_id == str(ada.pk)
    permission = Permission.objects.get(codename="view_match")
    rights = {"is_active": "on", "groups": [world.group.pk], "user_permissions": [permission.pk]}
    assert console_client.post(page_of(ada), rights).status_code == 302
    client.logout()
    assert client.login(username="ada", password=PASSWORD)
    assert client.get(list_of(Match)).status_code == 200
    assert client.get(list_of(Deposit)).status_code == 403


def test_an_operator_needs_a_name_and_a_good_password(world, console_client):
    before = Wallet.objects.count()
    for form in (
        {"username": "", "password1": PASSWORD, "password2": PASSWORD},
        {"username": world.superuser.username, "password1": PASSWORD, "password2": PASSWORD},
        {"username": "ada", "password1": "1234", "password2": "1234"},
        {"username": "ada", "password1": PASSWORD, "password2": "other"},
    ):
        assert console_client.post(url(Wallet, "add"), form).status_code == 200
    assert Wallet.objects.count() == before


def test_an_operators_password_is_set_anew_and_a_player_gets_none(world, console_client):
    operator = an_operator()
    form = {"password1": PASSWORD, "password2": PASSWORD, "usable_password": "true"}
    path = reverse("admin:auth_user_password_change", args=[operator.pk])
    assert console_client.get(path).status_code == 200
    assert console_client.post(path, form).status_code == 302
    operator.refresh_from_db()
    assert operator.check_password(PASSWORD)
    path = reverse("admin:auth_user_password_change", args=[world.player.pk])
    assert console_client.get(path).status_code == 403
    assert console_client.post(path, form).status_code == 403
    world.player.refresh_from_db()
    assert not world.player.has_usable_password()


def test_nobody_shuts_themselves_out(world, console_client):
    assert console_client.post(page_of(world.superuser), {}).status_code == 302
    world.superuser.refresh_from_db()
    assert world.superuser.is_active
    assert world.superuser.is_superuser


def test_permissions_to_be_had_are_those_that_open_something(world, console_client):
    html = console_client.get(url(Group, "add")).content.decode()
    assert "View match" in html
    assert "Freeze and thaw a player" in html
    for nothing in ("Add posting", "Delete transfer", "Change deposit", "View lock in"):
        assert nothing not in html


# --- Who gets in ------------------------------------------------------------------------------
def test_a_players_session_opens_no_page(world, client):
    client.force_login(world.player)
    paths = ["/admin/", "/admin/search/?s=vault&extended=1", "/admin/jsi18n/"]
    paths += [list_of(model) for model in MODELS] + [page_of(world.running)]
    for path in paths:
        response = client.get(path)
        assert response.status_code == 302, path
        assert response.url.startswith("/admin/login/"), path


def test_staff_without_a_permission_see_nothing(world, client):
    client.force_login(an_operator())
    html = client.get("/admin/").content.decode()
    assert "Credits owed" not in html
    for model in MODELS:
        assert list_of(model) not in html
        assert client.get(list_of(model)).status_code == 403
        assert client.get(page_of(model.objects.first())).status_code == 403


def test_staff_see_and_do_what_they_have_the_permission_for(world, client):
    operator = an_operator()
    codenames = ["view_wallet", "freeze_wallet", "view_match", "view_chain"]
    operator.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    client.force_login(operator)
    html = client.get(page_of(world.player)).content.decode()
    assert list_of(Match) in html
    assert list_of(Posting) not in html
    freeze = url(Wallet, "freeze", world.player.pk)
    assert client.post(freeze, {"reason": "a bot"}).status_code == 302
    world.player.refresh_from_db()
    assert not world.player.is_active
    assert client.post(page_of(world.chain), {"confirmations": "9"}).status_code == 403


@pytest.mark.parametrize("codenames", [["change_wallet", "add_wallet"], ["change_group"]])
def test_only_superusers_give_rights(codenames, world, client):
    operator = an_operator()
    permissions = Permission.objects.filter(codename__in=[*codenames, "view_wallet", "view_group"])
    operator.user_permissions.set(permissions)
    client.force_login(operator)
    every = [str(pk) for pk in Permission.objects.values_list("pk", flat=True)]
    rights = {"is_superuser": "on", "is_active": "on", "user_permissions": every}
    for path, form in {
        page_of(operator): rights,
        page_of(world.superuser): {},
        url(Wallet, "add"): {"username": "x", "password1": PASSWORD, "password2": PASSWORD},
        page_of(world.group): {"name": "x", "permissions": every},
        url(Group, "add"): {"name": "x"},
        reverse("admin:auth_user_password_change", args=[world.superuser.pk]): {
            "password1": PASSWORD,
            "password2": PASSWORD,
        },
    }.items():
        assert client.post(path, form).status_code == 403, path
    operator.refresh_from_db()
    world.superuser.refresh_from_db()
    assert not operator.is_superuser
    assert world.superuser.is_active
    assert not world.superuser.check_password(PASSWORD)
    assert not world.group.permissions.exists()


# --- Secrets ----------------------------------------------------------------------------------
def test_no_page_holds_a_secret(world, console_client):
    """Every list, page and history of every row, the dashboard, and the search."""
    paths = ["/admin/", f"/admin/search/?extended=1&s={world.running.pk}"]
    for model in MODELS:
        paths += [list_of(model), *map(page_of, model.objects.all())]
        paths += [url(model, "history", row.pk) for row in model.objects.all()[:2]]
    paths.append(reverse("admin:auth_user_password_change", args=[world.superuser.pk]))
    for path in paths:
        response = console_client.get(path)
        assert response.status_code == 200, path
        html = response.content.decode().lower()
        leaked = [name for name, secret in world.secrets.items() if secret.lower() in html]
        assert leaked == [], path


def test_what_nobody_should_read_has_no_page():
    for model in (LockIn, IdempotencyKey, LoginNonce, apps.get_model("wallets.Session")):
        assert not admin.site.is_registered(model)


QUESTIONS = (
    (Match, "invitation__startswith=a"),
    (Match, "sealed_secret__isnull=0"),
    (Match, "lock_ins__revealed=1"),
    (Match, "lock_ins__sealed_choice__isnull=0"),
    (Match, "seats__wallet__password__startswith=a"),
    (Match, "state__a__health=1"),
    (Wallet, "password__startswith=pbkdf2"),
    (Wallet, "tokens__token_hash__isnull=0"),
    (BearerToken, "token_hash__gt=a"),
    (BearerToken, "wallet__password__startswith=a"),
    (Posting, "account__wallet__password__startswith=a"),
    (Deposit, "wallet__password__contains=a"),
)


def test_a_list_answers_no_question_about_what_it_does_not_show(world, console_client):
    for model, query in QUESTIONS:
        assert console_client.get(f"{list_of(model)}?{query}").status_code == 400, query
