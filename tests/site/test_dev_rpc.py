import json

import pytest
from django.test import Client

from bas_site.devstack import Anvil


@pytest.fixture
def ask(chain: Anvil, settings):
    settings.CHAIN_RPC_URLS = [chain.url]

    def post(method: str, *params: object):
        call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return Client().post("/dev/rpc", call, content_type="application/json")

    return post


def test_calls_of_a_wallet_reach_the_local_chain(ask, chain):
    accounts = ask("eth_accounts").json()["result"]
    assert accounts == chain.rpc("eth_accounts")
    assert int(ask("eth_chainId").json()["result"], 16) == 31337
    signature = ask("personal_sign", "0x68690a", accounts[1]).json()["result"]
    assert len(signature) == 2 + 2 * 65


def test_what_the_node_refuses_is_told_as_the_node_tells_it(ask):
    call = {"from": "0x" + "11" * 20, "to": "0x" + "22" * 20}
    assert ask("eth_sendTransaction", call).json()["error"]["message"]


@pytest.mark.parametrize("method", ["anvil_setBalance", "evm_mine", "eth_sendRawTransaction", ""])
def test_nothing_but_a_wallets_calls_is_passed_on(ask, method):
    assert ask(method).json() == {
        "error": {"code": -32601, "message": "This method is not passed on."}
    }


@pytest.mark.parametrize("body", ["", "[]", "7", '{"method": 7}', "{", '{"params": []}'])
def test_what_is_no_call_is_refused(body):
    answer = Client().post("/dev/rpc", body, content_type="application/json")
    assert answer.status_code == 200
    assert answer.json()["error"]["code"] in (-32600, -32601)


def test_a_node_that_is_down_is_told_without_its_address(settings):
    settings.CHAIN_RPC_URLS = ["http://127.0.0.1:9/secret-key"]
    call = json.dumps({"method": "eth_accounts"})
    answer = Client().post("/dev/rpc", call, content_type="application/json")
    assert answer.json()["error"]["code"] == -32603
    assert "secret-key" not in answer.content.decode()


def test_another_site_cannot_use_a_players_browser_for_it():
    client = Client(enforce_csrf_checks=True)
    answer = client.post("/dev/rpc", {"method": "eth_accounts"}, content_type="application/json")
    assert answer.status_code == 403
    assert answer.json()["code"] == "csrf_failed"


def test_in_production_there_is_no_such_thing(settings):
    settings.DEVELOPMENT = False
    answer = Client().post("/dev/rpc", {"method": "eth_accounts"}, content_type="application/json")
    assert answer.status_code == 404
    assert answer.json()["code"] == "not_found"


def test_in_production_the_page_does_not_ask_for_the_dev_wallet(settings):
    settings.BAS_ENV, settings.DEVELOPMENT = "production", False
    assert 'data-environment="production"' in Client().get("/").content.decode()
