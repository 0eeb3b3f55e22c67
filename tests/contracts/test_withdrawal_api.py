from typing import Any

import pytest
from django.db import connections
from rest_framework.test import APIClient

from contracts.models import Withdrawal
from tests.contracts.test_withdrawal_races import at_once
from tests.contracts.withdraw_world import NATIVE, House
from tests.contracts.world import CONFIRMATIONS, PRICE, World
from wallets.accounts import wallet_for

URL = "/api/v1/withdrawals"


def logged_in(player: str) -> APIClient:
    client = APIClient()
    client.force_authenticate(wallet_for(player))
    return client


def post(client: APIClient, credits_: Any, key: str | None = None) -> Any:
    headers = {"Idempotency-Key": key} if key else {}
    return client.post(URL, {"credits": credits_}, headers=headers)


def test_a_player_asks_gets_a_voucher_and_sends_it_as_it_is_shown(house: House, ann: str):
    client = logged_in(ann)
    asked = post(client, 4)
    assert asked.status_code == 201
    shown = asked.json()
    assert (shown["status"], shown["voucher"], shown["tx_hash"]) == ("approved", None, None)
    withdrawal = Withdrawal.objects.get(pk=shown["id"])
    house.sign(withdrawal)
    withdrawal.refresh_from_db()

    (shown,) = client.get(URL).json()["results"]
    assert shown == {
        "id": withdrawal.pk,
        "status": "signed",
        "waiting_for": "",
        "credits": 4,
        "token": {
            "address": NATIVE,
            "symbol": "ETH",
            "decimals": 18,
            "credit_price": str(PRICE),
        },
        "amount": str(4 * PRICE),
        "voucher": {
            "chain_id": 31337,
            "vault": house.world.vault.address,
            "player": ann,
            "token": NATIVE,
            "amount": str(4 * PRICE),
            "id": str(withdrawal.voucher),
            "deadline": str(withdrawal.deadline),
            "signature": withdrawal.signature,
        },
        "deadline": shown["deadline"],
        "tx_hash": None,
        "confirmations": 0,
        "confirmations_asked": CONFIRMATIONS,
        "finality": "confirmations",
        "requested_at": shown["requested_at"],
        "ended_at": None,
    }

    voucher = shown["voucher"]
    call = house.world.vault.functions.withdraw(
        voucher["player"],
        voucher["token"],
        *(int(voucher[name]) for name in ("amount", "id", "deadline")),
        voucher["signature"],
    )
    receipt = house.world.send(call, house.relayer)
    house.scan()
    (shown,) = client.get(URL).json()["results"]
    assert (shown["status"], shown["confirmations"]) == ("redeemed", 1)
    assert shown["tx_hash"] == receipt["transactionHash"].to_0x_hex()
    house.confirm()
    (shown,) = client.get(URL).json()["results"]
    assert (shown["status"], shown["confirmations"]) == ("paid", CONFIRMATIONS)
    assert shown["voucher"] is None
    assert shown["ended_at"]


def test_cancelling_gives_the_credits_back(house: House, ann: str):
    client = logged_in(ann)
    number = post(client, 4).json()["id"]

    for _ in range(2):
        answer = client.post(f"{URL}/{number}/cancel")
        assert (answer.status_code, answer.json()["status"]) == (200, "cancelled")
    assert client.get("/api/v1/credits").json()["available"] == 10

    signed = house.signed(ann, 4)
    answer = client.post(f"{URL}/{signed.pk}/cancel")
    assert (answer.status_code, answer.json()["code"]) == (409, "too_late_to_cancel")


def test_withdrawals_need_a_login(world: World):
    assert APIClient().get(URL).status_code == 401
    assert post(APIClient(), 1).status_code == 401


def test_nobody_sees_or_cancels_the_withdrawals_of_others(house: House, ann: str):
    withdrawal = house.signed(ann, 4)
    stranger = logged_in(house.relayer)

    assert stranger.get(URL).json()["results"] == []
    for number in (withdrawal.pk, 999, 2**70):
        assert stranger.post(f"{URL}/{number}/cancel").status_code == 404


@pytest.mark.parametrize("credits_", [0, -1, "x", None, 1.5, 10**30, True, [1]])
def test_what_is_no_number_of_credits_is_refused(house: House, ann: str, credits_: Any):
    assert post(logged_in(ann), credits_).status_code == 400
    assert not Withdrawal.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_refusals_are_problems_that_say_which(house: House, ann: str, settings: Any):
    settings.WITHDRAWAL_WALLET_DAILY_CREDITS = 100
    client = logged_in(ann)
    seen = [(a.status_code, a.json()["code"]) for a in (post(client, 11), post(client, 101))]
    settings.WITHDRAWAL_MIN_CREDITS = 2
    answer = post(client, 1)
    seen.append((answer.status_code, answer.json()["code"]))

    assert seen == [
        (409, "insufficient_credits"),
        (409, "daily_limit_reached"),
        (400, "withdrawal_out_of_range"),
    ]
    assert answer.json()["minimum"] == 2


def test_the_same_key_asks_once_and_for_one_thing(house: House, ann: str):
    client = logged_in(ann)
    first, second = post(client, 4, "k"), post(client, 4, "k")
    other = post(client, 5, "k")

    assert first.content == second.content
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_conflict")
    assert Withdrawal.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_double_requests_at_once_ask_once(house: House, ann: str):
    answers = at_once(*[lambda: post(logged_in(ann), 4, "k").json()["id"]] * 6)

    assert len(set(answers)) == 1
    assert Withdrawal.objects.count() == 1
    assert house.balance(ann) == 6
    connections.close_all()


def test_a_list_costs_a_bounded_number_of_queries(
    house: House, ann: str, django_assert_num_queries: Any
):
    client = logged_in(ann)
    for _ in range(5):
        house.ask(ann)

    with django_assert_num_queries(2):
        assert len(client.get(URL).json()["results"]) == 5
