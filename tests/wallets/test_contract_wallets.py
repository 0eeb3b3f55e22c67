"""Wallets that are contracts log in on the chain's word: EIP-1271 and EIP-6492."""

import json
from pathlib import Path

import pytest
from eth_account import Account
from web3 import Web3

from contracts.contract_wallets import stands_by
from tests.contracts.rpc_proxy import html_page, http_status, result, running_proxy, silence
from tests.wallets.contract_wallet_helpers import (
    ContractAccount,
    counterfactual,
    deploy,
    deployed,
    hostile,
    log_in_as,
    wrapped,
)
from tests.wallets.login_helpers import ME, browser, problem
from wallets import siwe
from wallets.models import Wallet

pytestmark = pytest.mark.django_db
VECTORS = Path(__file__).parents[1] / "vectors" / "siwe" / "eip1271.json"


@pytest.fixture(autouse=True)
def node(chain, settings):
    settings.CHAIN_RPC_URLS = [chain.url]
    return chain


def refused(answer, reason):
    assert problem(answer, 401, "login_failed")["reason_code"] == reason


def test_a_contract_logs_in_by_its_owners_signature(chain):
    account, client = deployed(chain), browser()
    assert log_in_as(account, client).status_code == 200
    assert client.get(ME).json()["address"] == account.address


def test_a_contract_whose_owner_did_not_sign_is_refused(chain):
    account = ContractAccount(deployed(chain).address, Account.create())
    refused(log_in_as(account), "contract_refused")
    assert not Wallet.objects.exists()


def test_a_contract_is_asked_again_at_each_login(chain):
    account, heir = deployed(chain), Account.create()
    assert log_in_as(account).status_code == 200
    chain.rpc(
        "anvil_setStorageAt", account.address, "0x" + "0" * 64, "0x" + heir.address[2:].zfill(64)
    )
    refused(log_in_as(account), "contract_refused")
    assert log_in_as(ContractAccount(account.address, heir)).status_code == 200


def test_a_contract_takes_a_signature_of_a_form_that_no_key_makes(chain):
    account = deployed(chain)
    account.wrap = lambda signature: signature + "02" * 1000
    assert log_in_as(account).status_code == 200


@pytest.mark.parametrize("method", ["deploy", "deployAndBurn"])
def test_a_contract_logs_in_before_it_is_deployed_and_is_not_deployed_by_it(chain, method):
    account = counterfactual(chain, method)
    worked = method == "deploy"  # what runs out of gas has deployed nothing
    answer = log_in_as(account)
    if worked:
        assert answer.json()["wallet"]["address"] == account.address
    else:
        refused(answer, "signature_malformed")
    assert chain.rpc("eth_getCode", account.address, "latest") == "0x"


def test_a_wrapped_signature_still_counts_once_the_contract_is_deployed(chain):
    account = deployed(chain)
    factory = deploy(chain, "WalletFactory").address
    account.wrap = lambda signature: wrapped(signature, factory, b"")
    assert log_in_as(account).status_code == 200


def test_nobody_else_logs_in_to_a_contract_that_is_not_deployed_yet(chain):
    account = counterfactual(chain)
    account.owner = Account.create()
    refused(log_in_as(account), "contract_refused")


def test_a_factory_that_deploys_another_contract_opens_no_door(chain):
    attackers, victim = counterfactual(chain), Account.create().address
    refused(
        log_in_as(ContractAccount(victim, attackers.owner, attackers.wrap)), "signature_malformed"
    )


def test_a_call_that_the_signer_chose_is_not_made_before_a_deployed_contract_answers(chain):
    """Who can change what a wallet says for the length of a simulation, gets in nowhere."""
    account, heir = deployed(chain), Account.create()
    set_owner = Web3.keccak(text="setOwner(address)")[:4] + bytes.fromhex(
        heir.address[2:].zfill(64)
    )
    thief = ContractAccount(account.address, heir, lambda s: wrapped(s, account.address, set_owner))
    refused(log_in_as(thief), "contract_refused")


@pytest.mark.parametrize(
    "broken",
    [b"", b"\xff" * 64, bytes(32) + b"\xff" * 64, b"\0" * 96, b"\0" * 31 + b"\x60" + b"\0" * 65],
)
def test_a_broken_wrapper_is_refused(chain, broken):
    account = deployed(chain)
    account.wrap = lambda _: "0x" + broken.hex() + "6492" * 16
    refused(log_in_as(account), "contract_refused")


WAYS = (
    "BurnAllGas",
    "Revert",
    "RevertWithMuch",
    "ReturnMuch",
    "ReturnNothing",
    "ReturnFewBytes",
    "MagicWithGarbage",
    "MagicOnTheWrongSide",
    "CallBack",
    "Write",
    "SelfDestruct",
)


@pytest.mark.parametrize("way", range(len(WAYS)), ids=WAYS)
def test_a_hostile_contract_is_refused_and_keeps_nobody(chain, way):
    refused(log_in_as(hostile(chain, way)), "contract_refused")
    assert log_in_as(deployed(chain)).status_code == 200


def test_a_message_for_another_chain_is_refused_before_the_chain_is_asked(chain, settings):
    account = deployed(chain)
    with running_proxy(chain.url) as proxy:
        settings.CHAIN_RPC_URLS = [proxy.url]
        refused(log_in_as(account, chain_id=1), "wrong_chain")
        assert proxy.calls == []


def test_a_contract_of_another_chain_opens_no_door_here(chain):
    account = deployed(chain)
    chain.rpc("anvil_setCode", account.address, "0x")  # as if it had been deployed elsewhere alone
    refused(log_in_as(account), "wrong_signer")


def test_a_node_of_another_chain_is_not_believed(chain, settings):
    with running_proxy(chain.url) as proxy:
        settings.CHAIN_RPC_URLS = [proxy.url]
        proxy.always("eth_chainId", result("0x1"))
        proxy.always("eth_call", result("0x01"))
        problem(log_in_as(deployed(chain)), 503, "chain_unavailable")


def test_a_login_by_a_key_asks_no_node(chain, settings):
    settings.CHAIN_RPC_URLS = []
    account = Account.create()
    account = ContractAccount(account.address, account)
    assert log_in_as(account).status_code == 200


FAULTS = {
    "down": http_status(503),
    "busy": http_status(429),
    "a page": html_page,
    "silent": silence(1),
    "nonsense": result("0x03"),
    "nothing": result("0x"),
    "null": result(None),
    "a list": result([]),
    "much": result("0x" + "01" * 100_000),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_the_next_node_is_asked_when_one_fails_and_without_one_the_login_waits(
    chain, settings, fault
):
    settings.CONTRACT_WALLET_SECONDS = 0.3
    account = deployed(chain)
    with running_proxy(chain.url) as proxy:
        proxy.always("eth_call", fault)
        settings.CHAIN_RPC_URLS = [proxy.url]
        answer = log_in_as(account)
        assert "key-that-nobody-may-see" not in str(problem(answer, 503, "chain_unavailable"))
        assert answer["Retry-After"] == "1"
        settings.CONTRACT_WALLET_SECONDS = 10
        settings.CHAIN_RPC_URLS = [proxy.url, chain.url]
        proxy.always("eth_call", http_status(503))
        assert log_in_as(account).status_code == 200


def test_the_question_is_bounded_in_gas_and_changes_nothing(chain, settings):
    account = deployed(chain)
    seen = []
    with running_proxy(chain.url) as proxy:
        settings.CHAIN_RPC_URLS = [proxy.url]
        proxy.always("eth_call", lambda request, forward: seen.append(request) or forward())
        assert log_in_as(account).status_code == 200
        assert proxy.calls == ["eth_chainId", "eth_call"]
    ((call, block),) = [request["params"] for request in seen]
    assert (set(call), int(call["gas"], 16), block) == ({"data", "gas"}, 5_000_000, "latest")


def test_the_public_vectors_of_contract_wallets_pass_by_the_owners_who_signed_them(chain):
    """Their contracts are on mainnet; here, a wallet of the same owner stands at each address."""
    vectors = json.loads(VECTORS.read_text())
    passed = 0
    for vector in vectors.values():
        message, signature = siwe.parse(vector["message"]), vector["signature"]
        owner = siwe.recover(vector["message"], signature[: 2 + 2 * 65])
        code = chain.rpc("eth_getCode", deployed(chain).address, "latest")
        asked = {
            "address": message.address,
            "digest": siwe.digest(vector["message"]),
            "signature": siwe.contract_signature(signature),
        }
        assert stands_by(**asked) is None
        chain.rpc("anvil_setCode", message.address, code)
        assert stands_by(**asked) is False
        chain.rpc(
            "anvil_setStorageAt", message.address, "0x" + "0" * 64, "0x" + owner[2:].zfill(64)
        )
        assert stands_by(**asked) is True
        assert stands_by(**asked | {"digest": b"\1" * 32}) is False
        passed += 1
    print(f"eip1271.json: {passed} of {len(vectors)}")
    assert passed == len(vectors) == 2
