"""Wallets that are contracts, on a real chain."""

import json
from pathlib import Path

from eth_abi import encode
from eth_account import Account
from web3 import HTTPProvider, Web3

from contracts.contract_wallets import WRAPPED
from tests.wallets.login_helpers import LOGIN, NONCE, browser, message, signed

TEST_ARTIFACTS = Path(__file__).parents[2] / "contracts" / "artifacts" / "test"
GAS = 3_000_000


class ContractAccount:
    """A contract at an address, spoken for by its owner's key: logs in as any account does."""

    def __init__(self, address, owner, wrap=None):
        self.address, self.owner, self.wrap = address, owner, wrap

    def sign(self, text):
        signature = signed(self.owner, text)
        return self.wrap(signature) if self.wrap else signature


def deploy(chain, name, *arguments):
    """A contract of the tests', deployed by the chain's first account."""
    node = Web3(HTTPProvider(chain.url))
    built = json.loads((TEST_ARTIFACTS / f"{name}.json").read_text())
    factory = node.eth.contract(abi=built["abi"], bytecode=built["bytecode"])
    call = {"from": node.eth.accounts[0], "gas": GAS}
    receipt = node.eth.wait_for_transaction_receipt(
        factory.constructor(*arguments).transact(call), poll_latency=0.01
    )
    assert receipt["status"] == 1
    return factory(address=receipt["contractAddress"])


def deployed(chain):
    owner = Account.create()
    return ContractAccount(deploy(chain, "ContractWallet", owner.address).address, owner)


def hostile(chain, way):
    return ContractAccount(deploy(chain, "HostileWallet", way).address, Account.create())


def wrapped(signature, factory, call):
    """A signature as EIP-6492 wraps it, with what deploys its contract."""
    inner = encode(["address", "bytes", "bytes"], [factory, call, bytes.fromhex(signature[2:])])
    return "0x" + (inner + WRAPPED).hex()


def counterfactual(chain, method="deploy", owner=None):
    """A wallet that is not deployed yet, whose signatures say how to."""
    owner = owner or Account.create()
    factory = deploy(chain, "WalletFactory")
    address = factory.functions.addressOf(owner.address).call()
    call = bytes.fromhex(factory.encode_abi(method, args=[owner.address])[2:])
    return ContractAccount(address, owner, lambda s: wrapped(s, factory.address, call))


def log_in_as(account, client=None, **changes):
    """The answer to a login by a contract account."""
    client = client or browser()
    text = message(account, client.post(NONCE).json(), **changes)
    return client.post(LOGIN, {"message": text, "signature": account.sign(text)})
