"""The Python client against a real server: each call that the end-to-end tests don't make."""

import os
import threading

import pytest

from engine.verify import verify
from matches import lobby, tasks
from matches.practice import house_apes
from tests.matches.helpers import PAPER, ROCK, Table, player, win_for
from tests.matches.live_helpers import Web, until
from tests.site.admin_world import a_chain, a_vault
from tests.site.test_export import a_withdrawal
from wallets.login import issue_token

import bas_site.demo  # noqa: F401  # isort: skip - knows where the client is
from bas_client import ApiProblem, Client  # isort: skip

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def web(tmp_path_factory, django_db_setup, django_db_blocker):
    web = Web(tmp_path_factory.mktemp("web"), valkey_url=os.environ["VALKEY_URL"])
    with django_db_blocker.unblock():
        web.start()
    yield web
    web.process.stop()


@pytest.fixture
def client_for(web):
    """A client for a wallet, logged in without the ceremony."""
    made = []

    def make(wallet):
        client = Client(f"http://127.0.0.1:{web.port}")
        client.token, _ = issue_token(wallet=wallet, name="test", scope="money")
        made.append(client)
        return client

    yield make
    for client in made:
        client.close()


@pytest.fixture
def table():
    return Table()


def test_a_match_found_quickly_played_once_more_and_proved(client_for):
    ann, bob = client_for(player()), client_for(player())
    waiting = ann.quick_match(stake=5)
    running = bob.quick_match(stake=5)
    assert (running.id, running.status, running.rematch) == (waiting.id, "running", None)
    with pytest.raises(ApiProblem) as refused:
        ann.transcript(running.id)
    assert refused.value.code == "no_transcript"
    bob.resign(running.id)
    assert verify(ann.transcript(running.id)).result["winner"] == "a"
    offer = bob.rematch(running.id)
    shown = ann.match(running.id).rematch
    assert (shown.match, shown.by, shown.status) == (offer.id, "b", "open")
    assert ann.rematch(running.id).status == "running"


def test_players_and_what_they_have_played(client_for, table):
    client = client_for(player())
    a, b = (wallet.address for wallet in table.wallets.values())
    table.resign("b")
    tasks.rate_matches()
    best, worst = client.leaderboard()
    assert (best.rank, best.address, worst.address, best.provisional) == (1, a, b, True)
    record = client.player(a.lower())
    assert (record.rating, record.won, record.rank) == (best.rating, 1, None)
    assert record.since == table.wallets["a"].created_at
    nobody = client.player("0x" + "1" * 40)
    assert (nobody.rating, nobody.since, nobody.played) == (None, None, 0)
    (past,) = client.player_matches(b)
    assert (past.id, past.result, past.opponent, past.payout) == (str(table.id), "lost", a, 0)
    meetings = client.head_to_head(a, b)
    assert (meetings.won, meetings.lost, meetings.drawn) == (1, 0, 0)


def test_practice(client_for):
    client = client_for(player())
    apes = client.practice_apes()
    assert [ape.name for ape in apes] == [ape["name"] for ape in house_apes()]
    match = client.practice(apes[0].name)
    assert (match.status, match.stake, match.players["b"]) == ("running", 0, apes[0].address)


def test_withdrawals_are_listed_and_taken_back_and_everything_can_be_taken_along(client_for):
    wallet = player()
    a_withdrawal(a_vault(a_chain()), wallet)
    client = client_for(wallet)
    (withdrawal,) = client.withdrawals()
    assert (withdrawal.status, withdrawal.credits, withdrawal.voucher) == ("requested", 5, None)
    for stake in (1, 2):
        lobby.create_match(wallet=wallet, stake=stake, visibility="open")
    data = client.export()
    assert [match["stake"] for match in data["matches"]] == [1, 2]
    assert [row["id"] for row in data["withdrawals"]] == [withdrawal.id]
    with pytest.raises(ApiProblem) as refused:
        client.cancel_withdrawal(10**9)
    assert refused.value.code == "not_found"
    with pytest.raises(ApiProblem) as refused:
        client.withdraw(1)
    assert refused.value.code == "withdrawals_closed"


def test_logins_are_listed_made_and_ended(client_for):
    wallet = player()
    client, other = client_for(wallet), client_for(wallet)
    other.token = client.create_token(name="a reader", scope="read")
    (reader,) = [login for login in other.logins() if login.current]
    assert (reader.kind, reader.name, reader.scope) == ("token", "a reader", "read")
    with pytest.raises(ApiProblem) as refused:
        other.create_match(stake=5)
    assert refused.value.code == "insufficient_scope"
    client.revoke_login(reader.id)
    with pytest.raises(ApiProblem) as refused:
        other.me()
    assert refused.value.code == "authentication_failed"
    assert len(client.logins()) == 2
    client.revoke_logins(keep_current=True)
    assert [login.current for login in client.logins()] == [True]
    client.revoke_logins()
    with pytest.raises(ApiProblem):
        client.me()


def test_a_match_is_watched_from_its_beginning_to_its_end_though_the_server_dies(
    client_for, table, web
):
    client = client_for(player())
    client.patience_seconds = 60
    heard, seen = [], []

    def watch():
        for event in client.events(str(table.id)):
            heard.append(event)
        seen.append("the end")

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    table.movement(PAPER, ROCK)
    until(lambda: any(event.kind == "movement" for event in heard), "the first movement")
    web.process.kill()
    win_for(table, "a")
    table.resign("b")
    web.start()
    watcher.join(60)
    assert seen == ["the end"]
    numbers = [event.n for event in heard if event.n is not None]
    assert numbers == list(range(table.now().event_count + 1))
    assert (heard[-1].kind, heard[-1].data["winner"]) == ("ended", "a")
    assert list(client.events(str(table.id), after=numbers[-1])) == []
