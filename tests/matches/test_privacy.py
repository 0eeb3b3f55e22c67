"""Nothing tells an unrevealed choice, a salt, the server's secret or an invitation to others."""

import base64
import json
import logging

import pytest

from matches import selectors
from matches.models import LockIn, Match
from matches.sealing import unseal
from tests.matches.helpers import PAPER, ROCK, SCISSORS, Table, player

pytestmark = pytest.mark.django_db(transaction=True)
API = "/api/v1/matches"


class Scanner:
    """Every answer that readers get and every line that is logged, searched for secrets."""

    def __init__(self, table, client_of, caplog):
        caplog.set_level(logging.DEBUG)
        self.table, self.client_of, self.caplog = table, client_of, caplog
        self.readers = {**table.wallets, "stranger": player()}

    def answers(self, reader):
        """All that a reader can get: the match, both lists, and a number of refusals."""
        client, url = self.client_of(self.readers[reader]), f"{API}/{self.table.id}"
        movement = self.table.state.movement
        wrong = {"movement": movement, "move": "rock", "salt": "00" * 32}
        return [
            client.get(url),
            client.get(API),
            client.get(API, {"mine": "true"}),
            client.get(url, headers={"Invitation": "not it"}),
            client.post(f"{url}/join", {"invitation": "not it"}),
            client.post(f"{url}/cancel"),
            client.post(f"{url}/potions"),
            client.post(f"{url}/reveals", wrong),
            client.post(f"{url}/reveals", wrong | {"movement": movement + 1}),
            client.post(f"{url}/moves", {"movement": 99, "move": "rock"}),
            client.post(f"{url}/moves", {"movement": movement}),
        ]

    def scan(self, hidden):
        """`hidden`: the unrevealed choice of each side that has locked one in."""
        secrets = self.secrets()
        for reader in self.readers:
            answers = self.answers(reader)
            texts = [str(answer.headers) + answer.content.decode() for answer in answers]
            view = self.view(reader)
            texts.append(json.dumps(view, default=str))
            for secret in secrets[reader]:
                assert not any(secret in text for text in texts), (reader, secret)
            for side, choice in hidden.items():
                if side != reader:
                    seen = [view, *bodies(answers)]
                    assert not any(choice.move in shown(body) for body in seen)
        self.scan_log(hidden)

    def scan_log(self, hidden):
        """What was logged since the last time; even of a match that has ended."""
        logged = "\n".join(str(vars(record)) for record in self.caplog.records)
        assert str(self.table.id) in logged
        for secret in self.secrets()["log"]:
            assert secret not in logged, secret
        for choice in hidden.values():
            assert f"'{choice.move}'" not in logged
            assert f'"{choice.move}"' not in logged
        self.caplog.clear()

    def view(self, reader):
        """What the API is given to show: the serializers must not be all that keeps a secret."""
        return selectors.table(self.table.now(), self.readers[reader])

    def secrets(self):
        """What each reader must not see, in every form that it could come in."""
        match = self.table.now()
        server = {unseal(match.sealed_secret), *forms(match.sealed_secret)}
        salts = {side: set() for side in "ab"}
        for (side, _), salt in self.table.salts.items():
            salts[side].add(salt)
        for lock in LockIn.objects.filter(match=match, sealed_choice__isnull=False):
            server |= set(forms(lock.sealed_choice))
            salts[lock.side].add(unseal(lock.sealed_choice)["salt"])
        invitation = {match.invitation}
        return {
            "a": server | salts["b"],
            "b": server | salts["a"] | invitation,
            "stranger": server | salts["a"] | salts["b"] | invitation,
            "log": server | salts["a"] | salts["b"] | invitation,
        }


def forms(sealed):
    sealed = bytes(sealed)
    return sealed.decode("latin-1"), sealed.hex(), base64.b64encode(sealed).decode()


def bodies(answers):
    """What the match and the lists look like; a refusal may well name the move that it refuses."""
    return [answer.json() for answer in answers[:4] if answer.status_code == 200]


def shown(body):
    """A body's text without what every player of the same hand is shown."""
    if body.get("play"):
        body["play"] = body["play"] | {"legal_choices": None}
    return json.dumps(body, default=str)


@pytest.mark.parametrize("visibility", ["open", "invitation"])
def test_at_no_step_of_a_movement_is_anything_told(client_of, caplog, visibility):
    table = Table(visibility=visibility)
    scanner = Scanner(table, client_of, caplog)
    scanner.scan({})

    table.lock_in("a", PAPER)
    scanner.scan({"a": PAPER})
    table.lock_in("b", SCISSORS)
    scanner.scan({"a": PAPER, "b": SCISSORS})
    table.reveal("a", PAPER)
    scanner.scan({"a": PAPER, "b": SCISSORS})
    table.reveal("b", SCISSORS)
    scanner.scan({})

    # The last movement shows paper and scissors, so what is hidden now is rock.
    table.play("a", ROCK)
    scanner.scan({"a": ROCK})
    table.lock_in("b", ROCK)
    scanner.scan({"a": ROCK, "b": ROCK})
    table.miss()
    assert table.events()[-1]["b"] is None


def test_a_choice_that_was_locked_in_and_never_revealed_stays_hidden_to_the_end(client_of, caplog):
    table = Table()
    scanner = Scanner(table, client_of, caplog)
    table.lock_in("a", PAPER)
    table.miss()
    scanner.scan({"a": PAPER})
    table.miss()
    scanner.scan({"a": PAPER})
    table.lock_in("b", SCISSORS)
    table.play("a", PAPER)
    table.resign("b")
    assert Match.objects.get().status == "won"
    assert "match ended" in caplog.text
    scanner.scan_log({"b": SCISSORS})
    kept = json.dumps(table.events())
    assert "paper" not in kept
    assert "scissors" not in kept
    for wallet in (*table.wallets.values(), player()):
        body = client_of(wallet).get(f"{API}/{table.id}").json()
        assert "paper" not in shown(body)
        assert "scissors" not in shown(body)


def test_what_the_other_is_shown_does_not_depend_on_what_was_locked_in(client_of):
    def seen(choice, how):
        table = Table()
        getattr(table, how)("a", choice)
        body = client_of(table.wallets["b"]).get(f"{API}/{table.id}").json()
        for name in ("id", "players", "created_at", "started_at", "secret_hash"):
            del body[name]
        del body["play"]["deadline"]
        return body

    for how in ("play", "lock_in"):
        assert seen(ROCK, how) == seen(PAPER, how) == seen(SCISSORS, how)
    assert seen(ROCK, "play") == seen(ROCK, "lock_in")


def test_answers_to_the_player_itself_never_carry_the_salt_of_the_server(client_of):
    table = Table()
    client = client_of(table.wallets["a"])
    answer = client.post(f"{API}/{table.id}/moves", {"movement": 1, "move": "rock"})
    salt = unseal(LockIn.objects.get().sealed_choice)["salt"]
    assert salt not in answer.content.decode()


def test_an_invitation_in_use_is_in_no_log(client_of, caplog):
    caplog.set_level(logging.DEBUG)
    table = Table(visibility="invitation")
    client = client_of(player())
    url = f"{API}/{table.id}"
    invitation = table.match.invitation
    assert client.get(url, headers={"Invitation": invitation}).status_code == 200
    assert client.post(f"{url}/join", {"invitation": invitation}).status_code == 409
    assert caplog.records
    assert invitation not in "\n".join(str(vars(record)) for record in caplog.records)


def test_nothing_that_is_kept_in_the_database_can_be_read_before_its_time():
    table = Table()
    table.play("a", SCISSORS)
    table.lock_in("b", PAPER)
    rows = [*LockIn.objects.values(), *Match.objects.values("state", "sealed_secret", "chain_hash")]
    rows += table.now().events.values("body")
    kept = " ".join(
        bytes(value).decode("latin-1") if isinstance(value, memoryview | bytes) else str(value)
        for row in rows
        for value in row.values()
    )
    match = table.now()
    for secret in ("scissors", "paper", table.salts["b", 1], unseal(match.sealed_secret)):
        assert secret not in kept
