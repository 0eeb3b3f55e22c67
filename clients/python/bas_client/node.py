"""The chain's side: the few calls of a node that a deposit takes."""

import time
from types import TracebackType
from typing import Any, Self

import httpx
from eth_abi.abi import encode
from eth_account.signers.local import LocalAccount
from eth_typing import HexStr
from eth_utils.crypto import keccak

from bas_client.errors import ChainError
from bas_client.models import Chain, Token, Voucher

NATIVE = "0x0000000000000000000000000000000000000000"
RECEIPT_SECONDS = 60
RECEIPT_POLL_SECONDS = 0.1


class Node:
    """A node of the chain, by JSON-RPC. Keys stay here: transactions are signed before they go."""

    def __init__(self, url: str, *, timeout_seconds: float = 30) -> None:
        self._http = httpx.Client(base_url=url, timeout=timeout_seconds)

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def rpc(self, method: str, *params: object) -> Any:
        """Call a JSON-RPC method and return its result. Raises ChainError and httpx's errors."""
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = self._http.post("", json=request).raise_for_status().json()
        if "error" in answer:
            raise ChainError(f"{method}: {answer['error'].get('message', answer['error'])}")
        return answer["result"]

    def balance(self, holder: str, token: str = NATIVE) -> int:
        """Return what an address holds of a coin now, in its smallest unit."""
        if token == NATIVE:
            return int(self.rpc("eth_getBalance", holder, "latest"), 16)
        data = call_data("balanceOf(address)", holder)
        return int(self.rpc("eth_call", {"to": token, "data": data}, "latest"), 16)

    def send(self, account: LocalAccount, *, to: str, data: str = "0x", value: int = 0) -> str:
        """Sign and send a transaction, wait until it is mined, and return its hash.

        Raises ChainError if it would fail (nothing is sent), failed, or took too long.
        """
        call = {"from": account.address, "to": to, "data": data, "value": hex(value)}
        gas = int(self.rpc("eth_estimateGas", call), 16)
        tip = int(self.rpc("eth_maxPriorityFeePerGas"), 16)
        count = self.rpc("eth_getTransactionCount", account.address, "pending")
        signed = account.sign_transaction(
            {
                "chainId": int(self.rpc("eth_chainId"), 16),
                "nonce": int(count, 16),
                "to": HexStr(to),
                "data": HexStr(data),
                "value": value,
                # What storage costs may have changed by the time it is mined.
                "gas": gas * 5 // 4,
                "maxPriorityFeePerGas": tip,
                "maxFeePerGas": 2 * int(self.rpc("eth_gasPrice"), 16) + tip,
            }
        )
        return self.wait(self.rpc("eth_sendRawTransaction", signed.raw_transaction.to_0x_hex()))

    def wait(self, tx_hash: str, *, seconds: float = RECEIPT_SECONDS) -> str:
        """Wait until a transaction is mined and return its hash. Raises ChainError if it failed."""
        deadline = time.monotonic() + seconds
        while (receipt := self.rpc("eth_getTransactionReceipt", tx_hash)) is None:
            if time.monotonic() > deadline:
                raise ChainError(f"{tx_hash} was not mined within {seconds:.0f} s")
            time.sleep(RECEIPT_POLL_SECONDS)
        if receipt["status"] != "0x1":
            raise ChainError(f"{tx_hash} failed on the chain")
        return tx_hash

    def deposit(self, account: LocalAccount, chain: Chain, token: Token, amount: int) -> str:
        """Deposit an amount in the coin's smallest unit and return the transaction's hash.

        The vault takes whole credits only. An ERC-20 is approved first, for this amount.
        """
        if token.address == NATIVE:
            return self.send(account, to=chain.vault, data=call_data("deposit()"), value=amount)
        approve = call_data("approve(address,uint256)", chain.vault, amount)
        self.send(account, to=token.address, data=approve)
        deposit = call_data("depositToken(address,uint256)", token.address, amount)
        return self.send(account, to=chain.vault, data=deposit)

    def redeem(self, account: LocalAccount, voucher: Voucher) -> str:
        """Redeem a voucher, one's own or another's, and return the transaction's hash.

        `account` pays for the gas alone: the coins go to the voucher's player.
        """
        data = call_data(
            "withdraw(address,address,uint256,uint256,uint256,bytes)",
            *(voucher.player, voucher.token, voucher.amount, voucher.id, voucher.deadline),
            bytes.fromhex(voucher.signature.removeprefix("0x")),
        )
        return self.send(account, to=voucher.vault, data=data)


def call_data(signature: str, *arguments: object) -> str:
    """Return the call data of a contract's function, for its canonical signature."""
    types = [kind for kind in signature.partition("(")[2].rstrip(")").split(",") if kind]
    return "0x" + (keccak(text=signature)[:4] + encode(types, arguments)).hex()
