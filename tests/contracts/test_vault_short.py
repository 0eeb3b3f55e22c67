"""Fewer coins than credits: told when it is so, and not while coins or credits are on their way."""

from datetime import timedelta

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from contracts.selectors import credits_held, credits_owed
from contracts.tasks import note_holdings
from tests.contracts.withdraw_world import House
from tests.contracts.world import PRICE
from tests.ops.promql import Scrape, fires
from tests.ops.test_alerts import RULES
from tests.site.admin_world import an_operator

pytestmark = pytest.mark.django_db(transaction=True)


def is_short() -> bool:
    """Whether the alert and the console's first page say so, which they do together."""
    client = Client()
    scrape = Scrape(client.get("/metrics").content.decode())
    alert = fires(RULES["VaultShort"], scrape, scrape)
    client.force_login(an_operator(superuser=True))
    page = client.get("/admin/").content.decode()
    assert ("Credits may be lost" in page) == ("are owed." in page) == alert
    return alert


def lose_one_credit(house: House) -> None:
    vault = house.world.vault.address
    house.world.chain_node.set_balance(vault, house.coins(vault) - PRICE)
    note_holdings()


def test_a_withdrawal_that_is_redeemed_and_not_yet_confirmed_is_no_shortage(house: House, ann: str):
    note_holdings()
    house.redeem(house.signed(ann, 4))
    house.scan()
    assert not is_short()
    note_holdings()
    assert not is_short()
    assert credits_owed() == credits_held() == 6
    house.confirm()
    assert not is_short()
    assert credits_owed() == credits_held() == 6


def test_a_shortage_is_told_while_a_withdrawal_is_on_its_way(house: House, ann: str):
    house.redeem(house.signed(ann, 4))
    house.scan()
    lose_one_credit(house)
    assert is_short()


def test_a_redemption_that_falls_out_of_the_chain_is_owed_again(house: House, ann: str):
    withdrawal = house.signed(ann, 4)
    with house.undone():
        house.redeem(withdrawal)
        house.scan()
        assert credits_owed() == 6
    house.world.mine(5)
    house.scan()
    assert credits_owed() == 10


def test_a_deposit_that_is_credited_before_the_vaults_are_looked_at_again_is_no_shortage(
    house: House, ann: str
):
    note_holdings()
    house.fund(ann, 7)
    assert not is_short()
    assert credits_owed() == credits_held() == 17


def test_a_shortage_is_told_whatever_was_deposited_since(house: House, ann: str):
    lose_one_credit(house)
    house.fund(ann, 7)
    assert is_short()
    note_holdings()
    assert is_short()


def test_deposits_are_missed_when_nobody_looks_at_the_vaults_any_more(house: House, ann: str):
    note_holdings()
    house.fund(ann, 7)
    with time_machine.travel(timezone.now() + timedelta(minutes=6)):
        assert is_short()


def test_a_coin_that_was_never_looked_at_counts_as_none(house: House, ann: str):
    assert is_short()
