"""What deposits and withdrawals leave in the log: their ids and the way they went, no secret."""

import json
import logging
from collections.abc import Callable
from typing import Any

import pytest

from contracts.models import Deposit
from contracts.withdrawals import approve_withdrawal
from tests.contracts.withdraw_world import House, fresh, new_house, operator
from tests.contracts.world import World
from wallets.models import Wallet

Lines = Callable[[str], list[dict[str, Any]]]


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Lines:
    """The lines of an event."""
    caplog.set_level(logging.INFO)

    def lines(event: str) -> list[dict[str, Any]]:
        said = [record.msg for record in caplog.records if isinstance(record.msg, dict)]
        return [line for line in said if line["event"] == event]

    return lines


def facts(line: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(line.get(name) for name in ("deposit", "tx_hash", "credits", "wallet", "level"))


def test_each_deposit_is_logged_when_it_is_credited_and_when_it_is_taken_back(
    world: World, lines: Lines
):
    with world.undone():
        for credits_ in (7, 8):
            world.deposit(world.players[0], credits_)
        world.confirm()
        world.scan()
    world.mine(9)
    world.scan()
    wallet = Wallet.objects.get(address=world.players[0])
    first, second = Deposit.objects.order_by("id")
    assert [line["deposits"] for line in lines("deposits credited")] == [[first.pk, second.pk]]
    assert [facts(line) for line in lines("deposit taken back")] == [
        (first.pk, first.tx_hash, "7", wallet.pk, "warning"),
        (second.pk, second.tx_hash, "8", wallet.pk, "warning"),
    ]


def test_a_withdrawal_is_logged_from_the_request_to_the_payment_and_its_voucher_never(
    world: World, lines: Lines, settings: Any, caplog: pytest.LogCaptureFixture
):
    settings.WITHDRAWAL_APPROVAL_CREDITS = 3
    house: House = new_house(world)
    house.fund(world.players[0], 10)
    withdrawal = house.ask(world.players[0], 4)
    approve_withdrawal(operator=operator("decide_withdrawal"), withdrawal_id=withdrawal.pk)
    assert house.sign(withdrawal)
    signed = fresh(withdrawal)
    house.redeem(signed)
    house.confirm()

    (asked,) = lines("withdrawal requested")
    told = ("withdrawal", "wallet", "credits")
    assert [asked.get(name) for name in told] == [withdrawal.pk, withdrawal.wallet_id, "4"]
    moved = [line["now"] for line in lines("withdrawal moved")]
    assert moved == ["approved", "signed", "redeemed", "paid"]
    text = json.dumps([vars(record) for record in caplog.records], default=str).lower()
    for secret in (signed.signature[2:], house.key.key.hex(), str(signed.voucher)):
        assert secret.lower() not in text
