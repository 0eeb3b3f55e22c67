"""What a whole run has logged, by every process: nothing that opens anything. Runs last."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from eth_account import Account

from bas_site.devstack.stack import Stack
from tests.e2e.helpers import Player, dice, play_movement, seated, sql

pytestmark = pytest.mark.xdist_group("stack")

HEX_32_BYTES = re.compile(r"(?<![0-9a-fA-F])(?:0x)?([0-9a-fA-F]{64})(?![0-9a-fA-F])")
BEARER_TOKEN = re.compile(r"bas_[A-Za-z0-9_-]{20,}")


@pytest.fixture
def played(stack: Stack, rich_pair: tuple[Player, Player]) -> tuple[Player, Player]:
    """Players of a match that has just been resigned in the middle of a movement."""
    ann, bob = rich_pair
    views = seated(10, ann, bob)
    for _ in range(3):
        play_movement(rich_pair, views, dice())
    view = ann.client.match(views["Ann"].id)
    assert view.play is not None
    ann.client.lock_in(view, view.play.legal_choices[0])
    ann.client.resign(view.id)
    return rich_pair


def test_logs_hold_no_key_salt_token_or_cookie(
    stack: Stack, played: tuple[Player, Player], logs: Callable[[], dict[Path, str]]
) -> None:
    written = logs()
    assert {"web.log", "worker.log", "beat.log", "postgres.log"} <= {path.name for path in written}
    assert sum(map(len, written.values())) > 10_000, "too little to say anything"
    said = {path.name: text for path, text in written.items()}
    assert re.search(r"deposits credited .* task_id=", said["worker.log"])
    assert re.search(r"match ended .* request_id=", said["web.log"])

    secrets = {
        "token": [player.client.token for player in played],
        "private key": [player.account.key.hex() for player in played],
        "unrevealed salt": [
            played[0].client.locked_in(m.id).salt for m in played[0].client.my_matches()
        ],
        "salt": [
            salt
            for row in sql(
                stack,
                "SELECT body->'a'->>'salt', body->'b'->>'salt' FROM matches_event "
                "WHERE body->>'type' = 'movement'",
            )
            for salt in row
            if salt
        ],
        "setting": [
            stack.operator_password,
            *(stack.env[name] for name in ("SECRET_KEY", "FIELD_KEY", "DATABASE_URL")),
        ],
    }
    assert all(secrets.values()), "nothing to look for"
    addresses = {row[0] for row in sql(stack, "SELECT address FROM wallets_wallet")}
    for path, text in written.items():
        for kind, values in secrets.items():
            # The value itself is not shown: a report is a log, too.
            assert not any(value in text for value in values), f"a {kind} is in {path.name}"
        assert not BEARER_TOKEN.search(text), f"a token is in {path.name}"
        # Every player's key, the demo's too: whatever 32 bytes are there, they open no wallet.
        for number in set(HEX_32_BYTES.findall(text)):
            assert key_address(number) not in addresses, f"a player's key is in {path.name}"


def unrevealed_salt(player: Player) -> str:
    (match,) = player.client.my_matches()
    locked = player.client.locked_in(match.id)
    assert locked is not None
    return locked.salt


def key_address(number: str) -> str | None:
    try:
        return Account.from_key(number).address
    except ValueError:  # zero, or more than the curve's order
        return None
