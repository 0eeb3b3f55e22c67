"""A real chain with a vault on it, for the tests of the contract itself.

PYTEST_DONT_REWRITE: the tests import this module before they name it as their plugin.
"""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from eth_abi import decode
from eth_account import Account
from eth_account.signers.local import LocalAccount
from eth_utils import function_signature_to_4byte_selector
from eth_utils.abi import abi_to_signature
from web3 import HTTPProvider, Web3
from web3.contract import Contract
from web3.contract.contract import ContractConstructor, ContractFunction
from web3.types import TxReceipt

from bas_site.devstack.chain_nodes import CHAIN_ID, chosen_chain_node

ARTIFACTS = Path(__file__).parents[2] / "contracts" / "artifacts"
NATIVE = "0x" + "00" * 20
DAY = 24 * 60 * 60
OTHER_CHAIN_ID = 31338
# Enough for any call here, and given in full, so that a call that reverts is mined all the same.
GAS = 5_000_000
GAS_PRICE = 10 * 10**9

NATIVE_PRICE = 10**15
TOKEN_PRICE = 10_000
MAX_UINT256 = 2**256 - 1

WITHDRAW_TYPES = {
    "Withdraw": [
        {"name": "player", "type": "address"},
        {"name": "token", "type": "address"},
        {"name": "amount", "type": "uint256"},
        {"name": "id", "type": "uint256"},
        {"name": "deadline", "type": "uint256"},
    ]
}


@cache
def artifact(name: str) -> dict[str, Any]:
    """Read the built contract of this name."""
    path = ARTIFACTS / f"{name}.json"
    return json.loads((path if path.exists() else ARTIFACTS / "test" / path.name).read_text())


@cache
def known_errors() -> dict[bytes, dict[str, Any]]:
    """Return the errors of all contracts by their selectors."""
    return {
        bytes(function_signature_to_4byte_selector(abi_to_signature(entry))): entry
        for path in ARTIFACTS.rglob("*.json")
        for entry in json.loads(path.read_text())["abi"]
        if entry["type"] == "error"
    }


class Reverted(Exception):
    """A transaction was mined and failed; `name` is empty if it gave no reason."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.name, self.args_given = decode_error(data)
        super().__init__(f"{self.name or data.hex() or 'no reason'} {self.args_given}")


def decode_error(data: bytes) -> tuple[str, tuple[Any, ...]]:
    """Return the name and the arguments of a custom error; no name if it is none of ours."""
    entry = known_errors().get(data[:4])
    if entry is None:
        return "", ()
    values = decode([given["type"] for given in entry["inputs"]], data[4:])
    return entry["name"], tuple(
        Web3.to_checksum_address(value) if given["type"] == "address" else value
        for given, value in zip(entry["inputs"], values, strict=True)
    )


@contextmanager
def refused(name: str, *args: object) -> Iterator[None]:
    """Assert that a transaction inside reverts with exactly this error and these arguments."""
    with pytest.raises(Reverted) as caught:
        yield
    given = (caught.value.name, caught.value.args_given)
    assert given == (name, args), f"{given} instead of {(name, args)}"


@dataclass
class Chain:
    """A development chain, and the few things that a test does to it."""

    w3: Web3
    chain_id: int
    accounts: list[str] = field(default_factory=list)

    def rpc(self, method: str, *params: object) -> Any:
        """Call a JSON-RPC method and return its result."""
        answer = self.w3.provider.make_request(method, list(params))  # type: ignore[arg-type]
        if "error" in answer:
            raise AssertionError(f"{method}: {answer['error']}")
        return answer["result"]

    def send(
        self,
        call: ContractFunction | ContractConstructor,
        *,
        sender: str,
        value: int = 0,
        at: int | None = None,
    ) -> TxReceipt:
        """Mine the call, in a block of this timestamp if one is given; raise Reverted if it fails.

        One that fails is mined too: what a test sees is what the chain did, not an estimate.
        """
        if at is not None:
            self.rpc("evm_setNextBlockTimestamp", at)
        fields = {"from": sender, "value": value, "gas": GAS, "gasPrice": GAS_PRICE}
        return self._mined(call.transact(fields))

    def send_plain(self, *, sender: str, to: str, value: int, data: str = "0x") -> TxReceipt:
        """Mine a transfer of the native coin."""
        fields = {"from": sender, "to": to, "value": value, "gas": GAS, "data": data}
        return self._mined(self.w3.eth.send_transaction(fields))

    def _mined(self, tx_hash: bytes) -> TxReceipt:
        receipt = self.w3.eth.wait_for_transaction_receipt(tx_hash, poll_latency=0.005)
        if receipt["status"] == 1:
            return receipt
        trace = self.rpc("debug_traceTransaction", receipt["transactionHash"].to_0x_hex(), BRIEFLY)
        raise Reverted(bytes.fromhex(trace["returnValue"].removeprefix("0x")))

    def deploy(self, name: str, *args: object, sender: str, value: int = 0) -> Contract:
        """Deploy a built contract."""
        built = artifact(name)
        factory = self.w3.eth.contract(abi=built["abi"], bytecode=built["bytecode"])
        receipt = self.send(factory.constructor(*args), sender=sender, value=value)
        return self.w3.eth.contract(address=receipt["contractAddress"], abi=built["abi"])

    def now(self) -> int:
        """Return the timestamp of the head, which is the only clock that a contract knows."""
        return self.w3.eth.get_block("latest")["timestamp"]

    @contextmanager
    def undone(self) -> Iterator[None]:
        """Take back all that happens to the chain inside."""
        snapshot = self.rpc("evm_snapshot")
        try:
            yield
        finally:
            self.rpc("evm_revert", snapshot)


# Of a trace, what the transaction returned is enough.
BRIEFLY = {"disableMemory": True, "disableStack": True, "disableStorage": True}


@contextmanager
def running_chain(chain_id: int) -> Iterator[Chain]:
    """Run a development chain of this chain id."""
    with (
        tempfile.TemporaryDirectory() as folder,
        chosen_chain_node()(Path(folder), keep=False, chain_id=chain_id) as node,
    ):
        w3 = Web3(HTTPProvider(node.url))
        yield Chain(w3, chain_id, list(w3.eth.accounts))


@dataclass(frozen=True)
class Voucher:
    """What the backend signs; the fields are in the order of the contract's arguments."""

    player: str
    token: str
    amount: int
    id: int
    deadline: int

    def sign(self, key: LocalAccount, vault: Contract, chain_id: int) -> bytes:
        """Sign it for this vault on this chain."""
        return bytes(key.sign_typed_data(full_message=self.message(vault, chain_id)).signature)

    def message(self, vault: Contract, chain_id: int) -> dict[str, Any]:
        """Return the typed data as a wallet would be shown it."""
        return {
            "domain": {
                "name": "BasVault",
                "version": "1",
                "chainId": chain_id,
                "verifyingContract": vault.address,
            },
            "types": WITHDRAW_TYPES,
            "primaryType": "Withdraw",
            "message": self.__dict__,
        }


@dataclass
class Scene:
    """A fresh vault, a token that it takes, and the people around it."""

    chain: Chain
    owner: str
    alice: str
    bob: str
    relayer: str
    signer: LocalAccount
    vault: Contract
    token: Contract

    def deposit(self, player: str, amount: int) -> TxReceipt:
        """Deposit the native coin."""
        return self.chain.send(self.vault.functions.deposit(), sender=player, value=amount)

    def deposit_token(self, player: str, amount: int, token: Contract | None = None) -> TxReceipt:
        """Mint and approve a token, and deposit it."""
        token = token or self.token
        self.chain.send(token.functions.mint(player, amount), sender=player)
        if any(entry.get("name") == "approve" for entry in token.abi):
            self.chain.send(token.functions.approve(self.vault.address, amount), sender=player)
        call = self.vault.functions.depositToken(token.address, amount)
        return self.chain.send(call, sender=player)

    def as_owner(self, name: str, *args: object, vault: Contract | None = None) -> TxReceipt:
        """Call a function of the vault as its owner."""
        return self.chain.send(self.call(name, *args, vault=vault), sender=self.owner)

    def call(self, name: str, *args: object, vault: Contract | None = None) -> ContractFunction:
        """Name a call of the vault."""
        return (vault or self.vault).functions[name](*args)

    def read(self, name: str, *args: object) -> Any:
        """Call a view of the vault."""
        return self.call(name, *args).call()

    def voucher(self, **changes: Any) -> Voucher:
        """Return a good voucher over one native credit for Alice, or one with these changes."""
        deadline = self.chain.now() + 10 * DAY
        return replace(Voucher(self.alice, NATIVE, NATIVE_PRICE, 1, deadline), **changes)

    def redeem(
        self,
        voucher: Voucher,
        signature: bytes | None = None,
        *,
        at: int | None = None,
        vault: Contract | None = None,
    ) -> TxReceipt:
        """Relay a voucher, signed by the signer unless a signature is given."""
        if signature is None:
            signature = voucher.sign(self.signer, self.vault, self.chain.chain_id)
        call = self.call("withdraw", *astuple(voucher), signature, vault=vault)
        return self.chain.send(call, sender=self.relayer, at=at)

    def balance(self, account: str, token: str = NATIVE) -> int:
        """Return what an account has of a token, or of the native coin."""
        if token == NATIVE:
            return self.chain.w3.eth.get_balance(account)
        contract = self.chain.w3.eth.contract(address=token, abi=self.token.abi)
        return contract.functions.balanceOf(account).call()

    def events(self, receipt: TxReceipt, name: str) -> list[dict[str, Any]]:
        """Return the arguments of the vault's own events of this name, in order."""
        logs = [log for log in receipt["logs"] if log["address"] == self.vault.address]
        topic = Web3.keccak(text=abi_to_signature(self.vault.events[name]().abi))
        decode_log = self.vault.events[name]().process_log
        return [dict(decode_log(log)["args"]) for log in logs if log["topics"][0] == topic]


def new_scene(chain: Chain) -> Scene:
    """Deploy a vault whose token and native coin may leave without much of a limit."""
    owner, alice, bob, relayer = chain.accounts[:4]
    signer = Account.create()
    vault = chain.deploy("BasVault", owner, signer.address, NATIVE_PRICE, sender=owner)
    token = chain.deploy("TestToken", "Test dollar", "TUSD", 6, sender=owner)
    scene = Scene(chain, owner, alice, bob, relayer, signer, vault, token)
    scene.as_owner("allowToken", token.address, TOKEN_PRICE)
    scene.as_owner("setDailyLimit", NATIVE, 1_000 * NATIVE_PRICE)
    scene.as_owner("setDailyLimit", token.address, 1_000 * TOKEN_PRICE)
    return scene


@pytest.fixture(scope="session")
def vault_chain() -> Iterator[Chain]:
    """The chain of all tests of the vault; each of them leaves it as it was."""
    with running_chain(CHAIN_ID) as chain:
        yield chain


@pytest.fixture(scope="session")
def other_vault_chain() -> Iterator[Chain]:
    """A chain of another id."""
    with running_chain(OTHER_CHAIN_ID) as chain:
        yield chain


@pytest.fixture
def scene(vault_chain: Chain) -> Iterator[Scene]:
    """A fresh vault on the chain."""
    with vault_chain.undone():
        yield new_scene(vault_chain)
