from datetime import datetime
from typing import Any

import pytest
from rest_framework.test import APIClient

from contracts.models import Chain, Deposit
from tests.contracts.world import CONFIRMATIONS, PRICE, TOKEN_PRICE, World
from wallets.accounts import wallet_for


@pytest.fixture
def client() -> APIClient:
    return APIClient()


def log_in(client: APIClient, player: str) -> None:
    client.force_authenticate(wallet_for(player))


def test_anybody_may_ask_where_to_deposit(world: World, client: APIClient, settings):
    settings.CHAIN_PUBLIC_RPC_URL = "https://rpc.example.org"
    world.mine(2)
    world.scan()

    answer = client.get("/api/v1/chain")

    assert answer.status_code == 200
    told = answer.json()
    scanned_at = datetime.fromisoformat(told.pop("scanned_at"))
    assert scanned_at == Chain.objects.get().scanned_at
    assert told == {
        "chain_id": 31337,
        "name": "Anvil or Hardhat",
        "vault": world.vault.address,
        "finality": "confirmations",
        "confirmations": CONFIRMATIONS,
        "counting_block": world.chain.counting_block,
        "scanned_block": world.head,
        "head_block": world.head,
        "public_rpc_url": "https://rpc.example.org",
        "tokens": [
            {
                "address": "0x" + "00" * 20,
                "symbol": "ETH",
                "decimals": 18,
                "credit_price": str(PRICE),
            },
            {
                "address": world.token.address,
                "symbol": "TUSD",
                "decimals": 6,
                "credit_price": str(TOKEN_PRICE),
            },
        ],
        "paused": [],
    }


def test_the_chain_that_players_are_sent_to_is_the_one_of_the_settings(
    world: World, client: APIClient, settings: Any
):
    settings.CHAIN_ID = 97

    assert client.get("/api/v1/chain").status_code == 404


@pytest.mark.django_db
def test_without_a_vault_there_is_no_place_to_deposit(client: APIClient):
    answer = client.get("/api/v1/chain")

    assert answer.status_code == 404
    assert answer.json()["code"] == "not_found"


def test_players_are_sent_to_the_newest_vault(world: World, client: APIClient):
    new = world.new_vault()

    assert client.get("/api/v1/chain").json()["vault"] == new.address


def test_deposits_need_a_login(world: World, client: APIClient):
    assert client.get("/api/v1/deposits").status_code == 401


def test_a_deposit_shows_its_confirmations_up_to_those_asked(world: World, client: APIClient):
    player = world.players[0]
    log_in(client, player)
    receipt = world.deposit(player, 4)
    shown = []
    for _ in range(CONFIRMATIONS + 2):
        world.scan()
        (deposit,) = client.get("/api/v1/deposits").json()["results"]
        shown.append((deposit["confirmations"], deposit["status"]))
        world.mine()

    assert shown == [
        (1, "pending"),
        (2, "pending"),
        (3, "credited"),
        (3, "credited"),
        (3, "credited"),
    ]
    assert deposit == {
        "id": Deposit.objects.get().pk,
        "status": "credited",
        "token": {
            "address": "0x" + "00" * 20,
            "symbol": "ETH",
            "decimals": 18,
            "credit_price": str(PRICE),
        },
        "amount": str(4 * PRICE),
        "credits": 4,
        "confirmations": 3,
        "confirmations_asked": CONFIRMATIONS,
        "finality": "confirmations",
        "tx_hash": receipt["transactionHash"].to_0x_hex(),
        "block_number": receipt["blockNumber"],
        "seen_at": deposit["seen_at"],
        "credited_at": deposit["credited_at"],
    }


def test_where_the_nodes_block_decides_no_number_of_confirmations_is_asked(
    world: World, client: APIClient
):
    Chain.objects.update(finality="finalized", confirmations=2)
    world.deposit(world.players[0], 4)
    world.mine(4)
    world.scan()

    log_in(client, world.players[0])
    (deposit,) = client.get("/api/v1/deposits").json()["results"]

    assert deposit["finality"] == "finalized"
    assert (deposit["confirmations"], deposit["confirmations_asked"]) == (5, None)
    chain = client.get("/api/v1/chain").json()
    assert (chain["finality"], chain["confirmations"]) == ("finalized", None)
    assert chain["counting_block"] == world.chain.final_block


def test_a_deposit_that_fell_out_has_no_confirmations(world: World, client: APIClient):
    log_in(client, world.players[0])
    with world.undone():
        world.deposit(world.players[0])
        world.scan()
    world.mine(10)
    world.scan()

    (deposit,) = client.get("/api/v1/deposits").json()["results"]

    assert (deposit["status"], deposit["confirmations"]) == ("orphaned", 0)


def test_nobody_sees_the_deposits_of_others(world: World, client: APIClient):
    world.deposit(world.players[0], 1)
    world.deposit(world.players[1], 2)
    world.scan()

    log_in(client, world.players[1])
    results = client.get("/api/v1/deposits").json()["results"]

    assert [deposit["credits"] for deposit in results] == [2]


def test_deposits_come_in_pages_newest_first_at_a_bounded_cost(
    world: World, client: APIClient, django_assert_num_queries: Any
):
    player = world.players[0]
    for credits_ in range(1, 6):
        world.deposit(player, credits_)
    world.scan()
    log_in(client, player)

    with django_assert_num_queries(1):
        first = client.get("/api/v1/deposits?page_size=2").json()
    with django_assert_num_queries(1):
        whole = client.get("/api/v1/deposits").json()
    second = client.get(first["next"]).json()
    world.deposit(player, 6)
    world.scan()
    third = client.get(second["next"]).json()

    pages = [[d["credits"] for d in page["results"]] for page in (first, second, third)]
    assert pages == [[5, 4], [3, 2], [1]]
    assert third["next"] is None
    assert [d["credits"] for d in whole["results"]] == [5, 4, 3, 2, 1]


def test_amounts_beyond_a_double_are_whole_in_json(world: World, client: APIClient):
    Chain.objects.update(confirmations=1)
    token = world.deploy_test("TestToken", "Odd", "ODD", 18)
    world.send(world.vault.functions.allowToken(token.address, 2**200), world.owner)
    world.deposit_token(world.players[0], 2**200 * 3, token=token)
    world.scan()
    log_in(client, world.players[0])

    (deposit,) = client.get("/api/v1/deposits").json()["results"]

    assert deposit["amount"] == str(2**200 * 3)
    assert deposit["token"]["credit_price"] == str(2**200)
    assert deposit["credits"] == 3
