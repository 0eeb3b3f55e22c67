"""The console's doors: a password, then a code; sessions that are listed and ended."""

import re
from datetime import timedelta
from html import unescape

import pytest
import time_machine
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django_otp.oath import totp
from django_otp.plugins.otp_static.models import StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from bas_site.roles import ensure_roles
from tests.site.admin_world import a_player, an_operator
from wallets.accounts import wallet_for
from wallets.errors import Forbidden, NotFound
from wallets.models import Session
from wallets.second_factor import RECOVERY_CODE_LENGTH, RECOVERY_CODES, reset_second_factor

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery staple"
LOGIN, FACTOR, SESSIONS = "/admin/login/", "/admin/second-factor/", "/admin/sessions/"


@pytest.fixture(autouse=True)
def asked_for(settings):
    settings.OPERATOR_TWO_FACTOR = True
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def ann():
    ann = an_operator(username="ann")
    ann.set_password(PASSWORD)
    ann.is_superuser = True
    ann.save()
    return ann


def password(username="ann", **headers) -> Client:
    client = Client()
    form = {"username": username, "password": PASSWORD}
    answer = client.post(f"{LOGIN}?next=/admin/", form, headers=headers)
    assert answer.status_code == 302
    return client


def is_in(client) -> bool:
    return client.get("/admin/").status_code == 200


def code(operator, steps: int = 0) -> str:
    """What the operator's app shows, now or some steps of 30 seconds later."""
    device = TOTPDevice.objects.get(user=operator)
    return f"{totp(device.bin_key, drift=steps):06d}"


def enrolled(operator) -> tuple[Client, list[str]]:
    client = password(operator.username)
    client.get(FACTOR)
    html = client.post(FACTOR, {"code": code(operator)}).content.decode()
    return client, re.findall(r"<li>(\w+)</li>", html)


# --- Setting it up ----------------------------------------------------------------------------
def test_a_password_alone_opens_no_page(ann):
    client = password()
    for path in ("/admin/", "/admin/matches/match/", "/admin/search/?s=x", SESSIONS):
        answer = client.get(path)
        assert answer.status_code == 302
        assert answer.url.startswith(LOGIN)
    answer = client.get("/admin/matches/match/", follow=True)
    assert answer.redirect_chain[-1][0] == f"{FACTOR}?next=%2Fadmin%2Fmatches%2Fmatch%2F"


def test_an_app_is_set_up_at_the_first_login_and_lets_in(ann):
    client = password()
    html = client.get(f"{FACTOR}?next=/admin/matches/match/").content.decode()
    assert "<svg" in html
    secret = re.search(r'console-secret">([A-Z2-7 ]+)<', html)[1].replace(" ", "")
    assert len(secret) == 32
    assert not is_in(client)

    answer = client.post(f"{FACTOR}?next=/admin/matches/match/", {"code": code(ann)})
    html = answer.content.decode()
    assert len(re.findall(rf"<li>\w{{{RECOVERY_CODE_LENGTH}}}</li>", html)) == RECOVERY_CODES
    assert 'href="/admin/matches/match/"' in html
    assert answer["Cache-Control"].startswith("max-age=0")
    assert is_in(client)
    assert LogEntry.objects.get().get_change_message() == "Second factor set up."
    again = client.get(FACTOR).content.decode()
    assert "<svg" not in again
    assert secret not in again


def test_a_wrong_code_sets_nothing_up(ann):
    client = password()
    client.get(FACTOR)
    wrong = f"{(int(code(ann)) + 1) % 10**6:06d}"
    for said in (wrong, "", "x" * 17, "1234567", "é", "0x12"):
        assert "console-codes" not in client.post(FACTOR, {"code": said}).content.decode()
    assert not is_in(client)
    assert not TOTPDevice.objects.filter(confirmed=True).exists()


def test_the_qr_code_asks_nothing_of_another_host_and_runs_no_script(ann):
    answer = password().get(FACTOR)
    svg = re.search(r"<svg.*?</svg>", answer.content.decode(), re.DOTALL)[0]
    assert "script" not in svg
    assert "http" not in svg.replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert "default-src 'none'" in answer["Content-Security-Policy"]


# --- Logging in -------------------------------------------------------------------------------
def test_each_login_needs_a_code_of_the_app_and_takes_it_once(ann):
    enrolled(ann)
    client, other = password(), password()
    assert "<svg" not in client.get(FACTOR).content.decode()
    with time_machine.travel(timezone.now() + timedelta(seconds=60)):
        now = code(ann)
        spaced = f"{now[:3]} {now[3:]}"
        assert client.post(FACTOR, {"code": spaced}).url == "/admin/"
        assert is_in(client)
        other.post(FACTOR, {"code": now})
        assert not is_in(other)


def test_guesses_are_slowed_down_even_if_the_last_one_is_right(ann):
    enrolled(ann)
    client = password()
    later = timezone.now() + timedelta(seconds=60)
    with time_machine.travel(later, tick=False):
        for guess in ("000001", "000002", "000003"):
            client.post(FACTOR, {"code": guess})
        html = client.post(FACTOR, {"code": code(ann)}).content.decode()
        assert "too soon" in unescape(html)
        assert not is_in(client)
    with time_machine.travel(later + timedelta(seconds=30), tick=False):
        client.post(FACTOR, {"code": code(ann)})
        assert is_in(client)


def test_a_recovery_code_lets_in_once(ann):
    _, codes = enrolled(ann)
    client, other = password(), password()
    assert client.post(FACTOR, {"code": codes[0].upper()}).status_code == 302
    assert is_in(client)
    assert other.post(FACTOR, {"code": codes[0]}).status_code == 200
    assert not is_in(other)
    assert f"{RECOVERY_CODES - 1} recovery codes left" in client.get(FACTOR).content.decode()


def guess(client, wrong: str, times: int, start) -> None:
    """Give a wrong code as often as it is looked at, each time after the pause that is due."""
    for passed in range(times):
        with time_machine.travel(start + timedelta(seconds=2**passed), tick=False):
            assert "too soon" in unescape(client.post(FACTOR, {"code": wrong}).content.decode())


@pytest.mark.parametrize("wrong", ["000001", "12345", "1234567"])
def test_a_recovery_code_works_however_many_codes_of_the_app_were_wrong(ann, wrong):
    _, codes = enrolled(ann)
    start = timezone.now() + timedelta(seconds=60)
    guess(password(), wrong, 20, start)
    assert TOTPDevice.objects.get().throttling_failure_count == 20
    with time_machine.travel(start + timedelta(seconds=2**19), tick=False):
        client = password()
        client.post(FACTOR, {"code": codes[0]})
        assert is_in(client)
        client = password()
        client.post(FACTOR, {"code": code(ann)})
        assert is_in(client)


def test_guesses_of_recovery_codes_are_slowed_down_too(ann):
    _, codes = enrolled(ann)
    start = timezone.now() + timedelta(seconds=60)
    guess(password(), "aaaaaaaa", 4, start)
    client = password()
    with time_machine.travel(start + timedelta(seconds=2**3 + 7), tick=False):
        client.post(FACTOR, {"code": codes[0]})
        assert not is_in(client)
    with time_machine.travel(start + timedelta(seconds=2**3 + 8), tick=False):
        client.post(FACTOR, {"code": codes[0]})
        assert is_in(client)


def test_a_login_by_the_app_and_new_codes_forgive_wrong_recovery_codes(ann):
    first, codes = enrolled(ann)
    start = timezone.now() + timedelta(seconds=60)
    guess(password(), "aaaaaaaa", 10, start)
    with time_machine.travel(start + timedelta(seconds=2**9), tick=False):
        client = password()
        client.post(FACTOR, {"code": code(ann)})
        client = password()
        client.post(FACTOR, {"code": codes[0]})
        assert is_in(client)

    guess(password(), "aaaaaaaa", 10, start + timedelta(hours=1))
    with time_machine.travel(start + timedelta(hours=1, seconds=2**9), tick=False):
        html = first.post(FACTOR).content.decode()
        client = password()
        client.post(FACTOR, {"code": re.findall(r"<li>(\w+)</li>", html)[0]})
        assert is_in(client)


def test_new_recovery_codes_void_those_before(ann):
    client, codes = enrolled(ann)
    html = client.post(FACTOR).content.decode()
    fresh = re.findall(r"<li>(\w+)</li>", html)
    assert len(fresh) == RECOVERY_CODES == StaticToken.objects.count()
    assert not set(fresh) & set(codes)


def test_an_operators_code_is_of_no_use_to_another(ann):
    enrolled(ann)
    bob = an_operator(username="bob")
    bob.set_password(PASSWORD)
    bob.save()
    _, codes_of_bob = enrolled(bob)
    client = password()
    client.post(FACTOR, {"code": codes_of_bob[0]})
    assert not is_in(client)


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example", "javascript:1"])
def test_nobody_is_sent_to_another_site(ann, elsewhere):
    _, codes = enrolled(ann)
    answer = password().post(f"{FACTOR}?next={elsewhere}", {"code": codes[0]})
    assert answer.url == "/admin/"


def test_a_player_finds_no_door_here(client):
    client.force_login(a_player())
    assert client.get(FACTOR).url == LOGIN
    assert client.post(FACTOR, {"code": "000000"}).url == LOGIN


def test_a_login_that_wanted_no_page_leads_to_the_first_one(ann, client):
    form = {"username": "ann", "password": PASSWORD}
    assert client.post(LOGIN, form).url == "/admin/"


def test_where_it_is_not_asked_for_the_password_is_enough(ann, settings):
    settings.OPERATOR_TWO_FACTOR = False
    assert is_in(password())


# --- A lost app -------------------------------------------------------------------------------
def test_a_superuser_resets_an_operators_factor_and_the_next_login_sets_it_up(ann):
    anns, _ = enrolled(ann)
    bob = an_operator(username="bob")
    bob.set_password(PASSWORD)
    bob.save()
    bobs, _ = enrolled(bob)
    bobs.get("/admin/")
    path = reverse("admin:wallets_wallet_reset", args=[bob.pk])
    assert bobs.post(path, {"reason": "me"}).status_code == 403
    assert anns.post(path, {"reason": "the phone fell into the sea"}).status_code == 302
    assert not is_in(bobs)
    assert "<svg" in password("bob").get(FACTOR).content.decode()
    assert is_in(anns)


def test_nobody_else_resets_anything(ann):
    ensure_roles()
    with pytest.raises(Forbidden):
        reset_second_factor(superuser=an_operator(), operator_id=ann.pk)
    player = wallet_for("0x" + "1" * 40)
    with pytest.raises(NotFound):
        reset_second_factor(superuser=ann, operator_id=player.pk)


# --- Sessions ---------------------------------------------------------------------------------
def test_operators_see_and_end_their_own_sessions_and_superusers_all(ann, settings):
    settings.OPERATOR_TWO_FACTOR = False
    bob = an_operator(username="bob")
    bob.set_password(PASSWORD)
    bob.save()
    anns, bobs = password(), password("bob", user_agent="Lynx of Bob")
    other = password("bob")
    html = anns.get(SESSIONS).content.decode()
    assert "Lynx of Bob" in html
    assert html.count("/end/") == 3
    assert bobs.get(SESSIONS).content.decode().count("/end/") == 2
    session = Session.objects.get(pk=anns.session.session_key)
    assert session.session_key not in html

    assert bobs.post(f"{SESSIONS}{session.login_id}/end/").status_code == 404
    assert is_in(anns)
    session = Session.objects.get(pk=other.session.session_key)
    assert bobs.get(f"{SESSIONS}{session.login_id}/end/").status_code == 405
    assert bobs.post(f"{SESSIONS}{session.login_id}/end/").status_code == 302
    assert not is_in(other)
    session = Session.objects.get(pk=bobs.session.session_key)
    anns.post(f"{SESSIONS}{session.login_id}/end/")
    assert not is_in(bobs)
    said = LogEntry.objects.filter(object_id=bob.pk).values_list("user__username", "change_message")
    assert sorted(said) == [("ann", "Session ended."), ("bob", "Session ended.")]


def test_a_players_session_is_on_no_operators_list(ann, settings):
    settings.OPERATOR_TWO_FACTOR = False
    player = Client()
    player.force_login(a_player())
    session = Session.objects.get(pk=player.session.session_key)
    anns = password()
    assert anns.post(f"{SESSIONS}{session.login_id}/end/").status_code == 404
    assert anns.get(SESSIONS).content.decode().count("/end/") == 1
