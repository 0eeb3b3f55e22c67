"""While deposits or withdrawals are paused nothing new is done of them, and nothing is lost."""

import pytest
from django.contrib.auth.models import Permission
from rest_framework.test import APIClient

from contracts.models import Deposit
from contracts.withdrawals import request_withdrawal
from tests.contracts.withdraw_world import House
from tests.contracts.world import World
from wallets.accounts import wallet_for
from wallets.errors import ServicePaused
from wallets.models import Service, Wallet
from wallets.services import pause_service, resume_service

Name = Service.Name


@pytest.fixture
def operator(db: None) -> Wallet:
    operator = Wallet.objects.create(username="ann", is_staff=True)
    operator.user_permissions.add(Permission.objects.get(codename="pause_service"))
    return operator


def api(wallet: Wallet) -> APIClient:
    client = APIClient()
    client.force_authenticate(wallet)
    return client


def test_deposits_are_read_while_they_are_paused_and_credited_afterwards(
    world: World, operator: Wallet
):
    pause_service(operator=operator, name=Name.DEPOSITS, reason="the coin is being looked into")
    world.deposit(world.players[0], 7)
    world.confirm()

    for _ in range(2):
        world.scan()
    assert world.statuses() == ["pending"]
    assert world.credits(world.players[0]) == 0
    told = APIClient().get("/api/v1/chain").json()
    assert told["paused"] == [{"service": "deposits", "reason": "the coin is being looked into"}]

    resume_service(operator=operator, name=Name.DEPOSITS)
    world.scan()
    assert world.credits(world.players[0]) == 7
    assert Deposit.objects.get().status == Deposit.Status.CREDITED
    assert APIClient().get("/api/v1/chain").json()["paused"] == []


def test_no_voucher_is_signed_while_withdrawals_are_paused_and_none_is_lost(
    house: House, operator: Wallet
):
    address = house.world.players[0]
    house.fund(address, 9)
    asked = house.ask(address, 4)
    pause_service(operator=operator, name=Name.WITHDRAWALS, reason="a key is changed")

    with pytest.raises(ServicePaused):
        request_withdrawal(wallet=wallet_for(address), credits_=1)
    answer = api(wallet_for(address)).post("/api/v1/withdrawals", {"credits": 1})
    assert (answer.status_code, answer.json()["code"]) == (409, "service_paused")
    assert not house.sign(asked)
    asked.refresh_from_db()
    assert (asked.status, asked.hold) == ("approved", "service_paused")
    cancelled = api(wallet_for(address)).post(f"/api/v1/withdrawals/{asked.pk}/cancel")
    assert cancelled.status_code == 200
    assert house.world.credits(address) == 9

    resume_service(operator=operator, name=Name.WITHDRAWALS)
    assert house.sign(house.ask(address, 4))
