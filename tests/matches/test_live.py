"""Streams of a real server: what they tell, to whom, and that nothing is lost or told twice."""

import json
import random
import re
import threading

import pytest
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.db import connection

from bas_site.devstack import Valkey
from matches import battle, live, lobby
from matches.models import LockIn, Match
from matches.sealing import unseal
from tests.matches.helpers import PAPER, ROCK, SCISSORS, Table, player
from tests.matches.live_helpers import Reader, Web, bearer, path_of, sessions_of_others, until
from wallets.sessions import SessionStore

pytestmark = pytest.mark.django_db(transaction=True)
HEARTBEAT_SECONDS = 0.3
POOL_SIZE = 4


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("live")


@pytest.fixture(scope="module")
def valkey(root):
    """One of our own: it is killed."""
    with Valkey(root) as server:
        yield server


@pytest.fixture(scope="module")
def web(root, valkey, django_db_setup, django_db_blocker):
    web = Web(
        root,
        valkey_url=valkey.url,
        LIVE_HEARTBEAT_SECONDS=HEARTBEAT_SECONDS,
        LIVE_STREAMS_PER_WALLET=60,
        DATABASE_POOL_SIZE=POOL_SIZE,
    )
    with django_db_blocker.unblock():
        web.start()
    yield web
    web.process.stop()


@pytest.fixture(autouse=True)
def wake_ups(valkey, settings):
    """Send this process's wake-ups where the server listens."""
    settings.VALKEY_URL = valkey.url
    live._valkey.cache_clear()
    live._silent_until = 0.0
    yield
    live._valkey.cache_clear()


@pytest.fixture
def readers(web):
    """Opens streams, and hangs up on them in the end."""
    opened = []

    def open_(table, wallet, **where):
        opened.append(Reader(web, table, bearer(wallet), **where))
        return opened[-1]

    yield open_
    for reader in opened:
        reader.hang_up()


def told(reader):
    return [(message.kind, message.id, message.data) for message in reader.events]


def count(n):
    return lambda reader: len(reader.events) >= n


def test_a_match_is_told_from_its_start_to_its_end_and_the_stream_ends(readers):
    table = Table()
    reader = readers(table, table.wallets["a"])
    assert reader.answer.status == 200
    assert reader.answer.headers["Content-Type"] == "text/event-stream"
    assert reader.answer.headers["Cache-Control"] == "no-store"
    assert reader.answer.headers["X-Accel-Buffering"] == "no"
    reader.until(count(1))
    table.movement(PAPER, ROCK)
    table.resign("b")
    reader.until(lambda reader: reader.ended)

    assert [(m.kind, m.id) for m in reader.events] == [
        ("start", 0),
        ("locked", 1),
        ("locked", 2),
        ("movement", 3),
        ("resign", 4),
        ("ended", 5),
    ]
    start, locked, _, movement, resign, ended = (m.data for m in reader.events)
    assert start["a"] == table.wallets["a"].address
    assert start["secret_hash"] == table.match.secret_hash
    assert start["state"]["movement"] == 1
    assert locked == {
        "n": 1,
        "at": locked["at"],
        "chain_hash": locked["chain_hash"],
        "ape": "a",
        "movement": 1,
        "commitment": table.events()[1]["commitment"],
    }
    assert movement["a"] == {"move": "paper", "tribute": None}
    assert movement["b"] == {"move": "rock", "tribute": None}
    assert (movement["movement"], movement["state"]["movement"]) == (1, 2)
    assert movement["state"]["outcome"] == "a"
    assert resign["ape"] == "b"
    assert (ended["status"], ended["winner"], ended["ended_by"]) == ("won", "a", "resigned")


def test_how_late_events_are_told_is_measured_for_those_that_happen_while_somebody_listens(
    web, readers
):
    def measured():
        (line,) = re.findall(
            r"^bas_event_delivery_seconds_count (.+)$", web.get("/metrics")[2], re.M
        )
        return float(line)

    table, before = Table(), measured()
    table.movement(PAPER, ROCK)
    reader = readers(table, table.wallets["a"]).until(count(4))
    assert measured() == before  # all of it old
    table.resign("b")
    reader.until(lambda reader: reader.ended)
    assert measured() == before + 1


def test_the_state_after_an_old_movement_is_what_was_told_when_it_was_new(readers):
    table = Table()
    live_one = readers(table, table.wallets["a"]).until(count(1))
    rng = random.Random(5)
    for n in range(8):
        table.movement(*rng.choices((ROCK, PAPER, SCISSORS), k=2))
        live_one.until(count(1 + 3 * (n + 1)))
        if n == 4:
            state = table.state
            told_state = live_one.events[-1].data["state"]
            assert told_state["phase"] == state.phase
            assert told_state["apes"]["a"] == state.a._asdict()
    later = readers(table, table.wallets["b"]).until(count(25))
    assert told(later) == told(live_one)
    assert readers(table, player(), after=11).until(count(13)).events == live_one.events[12:]


def test_the_clock_is_told_without_a_number_whenever_stage_or_deadline_change(readers):
    table = Table()
    reader = readers(table, table.wallets["a"]).until(lambda r: len(r.clocks) == 1)
    table.lock_in("a", ROCK)
    table.lock_in("b", ROCK)
    reader.until(lambda r: r.clocks[-1]["stage"] == "reveal")
    table.reveal("a", ROCK)
    table.reveal("b", ROCK)
    reader.until(lambda r: r.clocks[-1]["movement"] == 2)
    shown = table.now().deadline.isoformat(timespec="microseconds").replace("+00:00", "Z")
    assert reader.clocks[-1] == {"movement": 2, "stage": "lock", "deadline": shown}
    # Nobody acts, and yet the stage changes.
    table.lock_in("a", ROCK)
    table.miss()
    reader.until(lambda r: r.clocks[-1]["stage"] == "reveal" and r.clocks[-1]["movement"] == 2)


def test_both_players_and_a_spectator_are_told_the_same(readers):
    table = Table()
    all_three = [readers(table, wallet) for wallet in (*table.wallets.values(), player())]
    table.movement(ROCK, SCISSORS)
    table.lock_in("a", ROCK)
    table.miss()
    table.miss()
    table.resign("a")
    for reader in all_three:
        reader.until(lambda reader: reader.ended)
    first, second, third = map(told, all_three)
    assert first == second == third
    assert [kind for kind, *_ in first][-2:] == ["resign", "ended"]


def test_no_choice_and_no_salt_is_told_before_its_time(readers):
    table = Table()
    all_three = [readers(table, wallet) for wallet in (*table.wallets.values(), player())]

    def caught_up():
        n = table.now().event_count
        for reader in all_three:
            reader.until(lambda r: r.ids and r.ids[-1] >= n - 1)

    def raw():
        return b"".join(reader.raw for reader in all_three).decode()

    # None of these moves has been played, so that their words can come from nothing else.
    table.lock_in("a", PAPER)
    caught_up()
    table.lock_in("b", SCISSORS)
    caught_up()
    table.reveal("a", PAPER)
    for reader in all_three:
        reader.until(lambda r: r.clocks[-1]["stage"] == "reveal")
    fresh = readers(table, player()).until(count(3))
    all_three.append(fresh)
    assert "paper" not in raw()
    assert "scissors" not in raw()
    table.reveal("b", SCISSORS)
    caught_up()
    assert "paper" in fresh.raw.decode()
    table.play("a", ROCK)
    caught_up()
    assert '"rock"' not in raw()
    table.resign("b")
    for reader in all_three:
        reader.until(lambda reader: reader.ended)
    assert '"rock"' not in raw()
    match = table.now()
    secrets = {*table.salts.values(), unseal(match.sealed_secret), match.invitation}
    secrets |= {unseal(lock.sealed_choice)["salt"] for lock in LockIn.objects.filter(match=match)}
    for secret in secrets:
        assert secret not in raw()


def test_a_cut_stream_goes_on_without_gap_or_repeat_while_the_match_goes_on(web, valkey):
    tables = [Table() for _ in range(3)]
    rng = random.Random(7)
    over = threading.Event()
    got = {}

    def follow(key, table, headers, dice):
        ids = got[key] = []
        while True:
            reader = Reader(web, table, headers, last=ids[-1] if ids else None)
            if reader.answer.status == 204:
                return
            stop_at = dice.random() * 0.25
            reader.join(None if over.is_set() else stop_at)
            reader.hang_up()
            ids += reader.ids
            if reader.messages and reader.messages[-1].kind == "ended":
                return

    def play(table, dice):
        try:
            for n in range(1, 26):
                table.movement(*dice.choices((ROCK, PAPER, SCISSORS), k=2))
                if table.now().status != "running":
                    return
                assert table.state.movement == n + 1
            table.resign("a")
        finally:
            connection.close()

    players = [threading.Thread(target=play, args=(t, random.Random(rng.random()))) for t in tables]
    followers = [
        threading.Thread(
            target=follow, args=((n, m), table, bearer(player()), random.Random(rng.random()))
        )
        for n, table in enumerate(tables)
        for m in range(4)
    ]
    for thread in followers + players:
        thread.start()
    for thread in players:
        thread.join(60)
    over.set()
    for thread in followers:
        thread.join(60)
        assert not thread.is_alive()
    for (n, _), ids in got.items():
        assert ids == list(range(tables[n].now().event_count + 1))


def test_who_may_not_see_a_match_is_told_that_there_is_none(web):
    table = Table(visibility="invitation")
    other = bearer(player())
    for headers in (other, other | {"Invitation": "not it"}):
        refused(web.get(path_of(table), **headers), 404, "not_found")
    refused(web.get("/api/v1/matches/00000000-0000-4000-8000-000000000000/events", **other), 404)
    reader = Reader(web, table, other | {"Invitation": table.match.invitation})
    assert reader.answer.status == 200
    reader.hang_up()
    for wallet in table.wallets.values():
        reader = Reader(web, table, bearer(wallet))
        assert reader.answer.status == 200
        reader.hang_up()


def refused(answer, status, code=None):
    assert answer[0] == status
    assert answer[1]["Content-Type"] == "application/problem+json"
    body = json.loads(answer[2])
    assert body["status"] == status
    assert code in (None, body["code"])


def test_who_is_not_logged_in_is_refused(web):
    table = Table()
    refused(web.get(path_of(table)), 401, "not_authenticated")
    refused(web.get(path_of(table), Accept="text/event-stream"), 401, "not_authenticated")
    wrong = {"Authorization": "Bearer bas_wrong"}
    refused(web.get(path_of(table), **wrong), 401, "authentication_failed")


def test_a_browser_s_session_is_a_login(web):
    table = Table()
    wallet = table.wallets["a"]
    session = SessionStore()
    session[SESSION_KEY] = str(wallet.pk)
    session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    session[HASH_SESSION_KEY] = wallet.get_session_auth_hash()
    session.save()
    reader = Reader(web, table, {"Cookie": f"sessionid={session.session_key}"})
    reader.until(count(1)).hang_up()


@pytest.mark.parametrize("after", ["x", "-1", "1.5", "99", "9" * 40, "\u0661"])
def test_a_number_that_is_none_is_refused(web, after):
    table = Table()
    headers = bearer(player())
    if after.isascii():
        refused(web.get(path_of(table, after=after), **headers), 400, "invalid")
        refused(web.get(path_of(table), **headers, **{"Last-Event-ID": after}), 400, "invalid")
    else:
        refused(web.get(path_of(table, after="%D9%A1"), **headers), 400, "invalid")


def test_the_first_number_that_has_not_come_is_refused_and_the_last_that_has_is_not(web, readers):
    table = Table()
    refused(web.get(path_of(table, after=1), **bearer(player())), 400, "invalid")
    reader = readers(table, player(), after=0).until(lambda r: r.clocks)
    table.play("a", ROCK)
    assert reader.until(count(1)).ids == [1]


def test_a_match_that_waits_for_its_opponent_is_told_when_it_starts_or_is_taken_back(readers):
    maker = player()
    for end in ("join", "cancel"):
        match = lobby.create_match(wallet=maker, stake=10, visibility="open")
        match.id = match.pk
        reader = readers(match, maker).until(lambda r: r.heartbeats)
        if end == "join":
            lobby.join_match(wallet=player(), match_id=match.pk)
            assert reader.until(count(1)).events[0].kind == "start"
        else:
            lobby.cancel_match(wallet=maker, match_id=match.pk)
            reader.until(lambda reader: reader.ended)
            assert [(m.kind, m.id) for m in reader.events] == [("ended", 0)]
            assert reader.events[0].data["status"] == "cancelled"


def test_after_the_end_there_is_nothing_to_come_back_for(web):
    table = Table()
    table.resign("a")
    whole = Reader(web, table, bearer(player()))
    whole.until(lambda reader: reader.ended)
    assert whole.ids == [0, 1, 2]
    status, _, text = web.get(path_of(table), **bearer(player()), **{"Last-Event-ID": "2"})
    assert (status, text) == (204, "")
    assert Reader(web, table, bearer(player()), last=1).until(lambda r: r.ended).ids == [2]


def test_a_silent_stream_beats(readers):
    table = Table()
    reader = readers(table, player()).until(lambda r: r.heartbeats >= 3)
    assert reader.ids == [0]
    assert len(reader.clocks) == 1


def test_a_wallet_has_a_limit_of_open_streams_and_gets_its_place_back(web):
    table, wallet = Table(), player()
    headers = bearer(wallet)
    opened = [Reader(web, table, headers) for _ in range(60)]
    assert {reader.answer.status for reader in opened} == {200}
    refused(web.get(path_of(table), **headers), 429, "throttled")
    readers_of_others = Reader(web, table, bearer(player()))
    assert readers_of_others.answer.status == 200
    for reader in (*opened, readers_of_others):
        reader.hang_up()

    def free():
        reader = Reader(web, table, headers)
        reader.hang_up()
        return reader.answer.status == 200

    until(free, "a place")


def test_fifty_open_streams_hold_no_connection_to_the_database(web, readers):
    tables = [Table() for _ in range(5)]
    # A stream that held one would leave none for the others, or for who asks anything else.
    opened = [readers(table, player()) for table in tables for _ in range(10)]
    for reader in opened:
        reader.until(count(1))
    for table in tables:
        table.play("a", ROCK)
    for reader in opened:
        reader.until(count(2))
    watcher = bearer(player())
    for table in tables:
        assert web.get(f"/api/v1/matches/{table.id}", **watcher)[0] == 200
    assert sessions_of_others() <= POOL_SIZE


def test_threads_are_given_back_too(web, readers):
    table = Table()
    status = f"/proc/{web.process.pid}/status"

    def threads():
        with open(status) as lines:
            return next(int(line.split()[1]) for line in lines if line.startswith("Threads:"))

    before = threads()
    opened = [readers(table, player()) for _ in range(40)]
    for reader in opened:
        reader.until(count(1))
    until(lambda: threads() < before + 10, "idle streams have no thread")


def test_with_valkey_down_streams_go_on_by_polling_and_with_it_back_by_wake_ups(
    web, valkey, readers
):
    table, other = Table(), Table()
    reader = readers(table, player()).until(count(1))
    valkey.process.kill()
    until(lambda: "live updates by polling" in web.log(), "the log says so")
    table.play("a", ROCK)
    reader.until(count(2))
    fresh = readers(other, player()).until(count(1))
    other.play("a", ROCK)
    fresh.until(count(2))
    valkey.start()
    until(lambda: "live updates by Valkey again" in web.log(), "the log says so")
    live._silent_until = 0.0
    table.play("b", ROCK)
    reader.until(count(4))
    assert reader.ids == [0, 1, 2, 3]


def test_a_change_that_nobody_announced_is_found(readers):
    table = Table()
    reader = readers(table, player()).until(count(1))
    Match.objects.filter(pk=table.id).update(deadline="2040-01-01T00:00:00Z")
    reader.until(lambda r: r.clocks[-1]["deadline"].startswith("2040"))


def test_nothing_is_announced_of_what_is_rolled_back(monkeypatch):
    table = Table()
    announced = []
    monkeypatch.setattr(live, "_publish", announced.append)
    battle.play(wallet=table.wallets["a"], match_id=table.id, movement=1, choice=ROCK)
    assert announced == [str(table.id)]
    with pytest.raises(battle.IllegalChoice):
        table.drink("a")
    assert len(announced) == 1
    # Locked in, resolved, the next movement begun: one wake-up.
    battle.play(wallet=table.wallets["b"], match_id=table.id, movement=1, choice=ROCK)
    assert len(announced) == 2


def test_a_valkey_that_is_down_fails_no_request(settings):
    table = Table()
    settings.VALKEY_URL = "redis://127.0.0.1:1/0"
    live._valkey.cache_clear()
    table.play("a", ROCK)
    assert table.now().event_count == 2


def test_a_server_that_is_told_to_end_ends_its_streams(root, valkey):
    web = Web(root, valkey_url=valkey.url).start()
    try:
        table = Table()
        reader = Reader(web, table, bearer(player())).until(count(1))
        assert web.process.stop(), "it waited for its streams"
        reader.join(5)
        assert reader.ended
    finally:
        web.process.kill()


def test_a_stream_has_an_age_after_which_it_comes_back(root, valkey):
    web = Web(root, valkey_url=valkey.url, LIVE_STREAM_SECONDS=1, LIVE_HEARTBEAT_SECONDS=0.2)
    web.start()
    try:
        reader = Reader(web, Table(), bearer(player()))
        reader.until(lambda reader: reader.ended)
        assert reader.ids == [0]
    finally:
        web.process.stop()
