"""Talking to a node of the chain. No database transaction may be open meanwhile.

A node may be down, slow, behind, overloaded or wrong. Each of these is a `Trouble` in words that
are safe to show: an RPC URL holds a key, and the HTTP client puts it into its own errors.
"""

import logging
import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Literal

import requests
from django.conf import settings
from web3 import HTTPProvider, Web3
from web3.exceptions import Web3Exception
from web3.types import RPCEndpoint, RPCResponse

# At DEBUG both write each request's URL into the log, key and all.
for _name in ("web3", "urllib3"):
    logging.getLogger(_name).setLevel(logging.INFO)

# How nodes say that they were asked for too much; the other client errors are of another kind.
HTTP_REFUSALS = (400, 413)
# JSON-RPC has no code of its own for it, and some nodes give one code to this and to other limits.
BUSY = re.compile(r"rate.?limit|too many requests|request count|capacity|throttl|per second", re.I)
# A node that asks to be left alone for longer than this is asked once in a while all the same.
LONGEST_REST_SECONDS = 600


class Trouble(Web3Exception):
    """Why the chain can't be read now, in words that are safe to log and show."""

    # What it is counted under where it is the node's failure.
    cause = ""


class NodeFailed(Trouble):
    """The node did not answer, or what it answered makes no sense."""

    cause = "nonsense"


class NodeSilent(NodeFailed):
    """The node did not answer in time."""

    cause = "time_out"


class NodeUnreachable(NodeFailed):
    """Nothing answers there."""

    cause = "unreachable"


class NodeBroken(NodeFailed):
    """The node, or what stands before it, answered with an HTTP error."""

    cause = "http_error"


class NotJson(NodeFailed):
    """The node answered with a page, or with half an answer."""

    cause = "not_json"


class NodeBusy(NodeFailed):
    """The node was asked too often, and wants `rest_seconds` of peace."""

    cause = "rate_limit"

    def __init__(self, message: str, rest_seconds: float = 0) -> None:
        super().__init__(message)
        self.rest_seconds = min(rest_seconds, LONGEST_REST_SECONDS)


class NodeRefused(NodeFailed):
    """The node understood, and will not."""

    cause = "refused"


class BlockUnknown(NodeFailed):
    """The node does not have a block that it is asked for."""

    cause = "behind"


class TagUnknown(NodeFailed):
    """The node can't tell which block is final."""

    cause = "unknown_tag"


class WrongChain(Trouble):
    """The node serves another chain than the one that is asked for."""

    cause = "wrong_chain"


class ChainStartedOver(Trouble):
    """The genesis block is not the one that this chain was set up with."""

    cause = "started_over"


# What asking a node through web3's own objects raises; all of it is to be shown by `reason`.
NODE_ERRORS = (Web3Exception, OSError, ValueError)


def reason(error: BaseException) -> str:
    """An error in words that are safe to log and show."""
    if isinstance(error, Trouble):
        return str(error)
    return f"The node could not be asked ({type(error).__name__})."


class _Provider(HTTPProvider):
    """HTTP without retries (the next poll is one), and with errors that hold no URL."""

    def __init__(self, url: str, timeout_seconds: float | None) -> None:
        self.timeout_seconds = timeout_seconds or settings.CHAIN_RPC_TIMEOUT_SECONDS
        super().__init__(
            url,
            request_kwargs={"timeout": self.timeout_seconds},
            exception_retry_configuration=None,
        )

    def __str__(self) -> str:
        return "a node"

    def make_request(self, method: RPCEndpoint, params: Any) -> RPCResponse:
        """Ask the node. Raises NodeFailed if no JSON object comes back."""
        try:
            answer = super().make_request(method, params)
        # `from None`: the cause's words hold the URL, and a traceback would print them.
        except requests.HTTPError as error:
            raise _http_trouble(method, error.response) from None
        except requests.Timeout:
            raise NodeSilent(
                f"The node did not answer {method} within {self.timeout_seconds:g} seconds."
            ) from None
        except requests.JSONDecodeError:
            raise NotJson(f"The node answered {method} with what is no JSON.") from None
        except OSError as error:
            raise NodeUnreachable(f"The node can't be reached ({type(error).__name__}).") from None
        except ValueError:
            raise NotJson(f"The node answered {method} with what is no JSON.") from None
        if not isinstance(answer, dict):
            raise NodeFailed(f"The node answered {method} with nonsense.")
        return answer


def _http_trouble(method: str, response: requests.Response) -> NodeFailed:
    status = response.status_code
    words = f"The node answered {method} with HTTP {status}."
    if status == 429 or "Retry-After" in response.headers:
        return NodeBusy(words, _seconds_to_rest(response.headers.get("Retry-After", "")))
    return NodeRefused(words) if status in HTTP_REFUSALS else NodeBroken(words)


def _seconds_to_rest(retry_after: str) -> float:
    """What the header `Retry-After` asks for: seconds, or a date. 0 if it makes no sense."""
    if re.fullmatch("[0-9]{1,9}", retry_after):
        return float(retry_after)
    try:
        until = parsedate_to_datetime(retry_after)
        return max(0.0, (until - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError, OverflowError):
        return 0.0


def rpc_urls(chain_id: int) -> list[str]:
    """The URLs of the nodes of a chain, in the order in which they are asked.

    CHAIN_RPC_URLS for the chain CHAIN_ID, the environment's CHAIN_RPC_URLS_<id> for any other.
    """
    if chain_id == settings.CHAIN_ID:
        return list(settings.CHAIN_RPC_URLS)
    urls = os.environ.get(f"CHAIN_RPC_URLS_{chain_id}", "").split(",")
    return [url.strip() for url in urls if url.strip()]


def no_node(chain_id: int) -> NodeFailed:
    """The trouble of a chain that nobody named a node of."""
    of_another = "" if chain_id == settings.CHAIN_ID else f"_{chain_id}"
    return NodeUnreachable(f"CHAIN_RPC_URLS{of_another} names no node.")


def connect(
    *, url: str | None = None, chain_id: int | None = None, timeout_seconds: float | None = None
) -> Web3:
    """A connection to a node that serves the chain CHAIN_ID, or `chain_id`.

    Without a `url`, the first one of the chain's nodes that will do. Each call may take
    `timeout_seconds`, by default CHAIN_RPC_TIMEOUT_SECONDS. Raises Trouble.
    """
    wanted = settings.CHAIN_ID if chain_id is None else chain_id
    trouble: Trouble = no_node(wanted)
    for candidate in [url] if url else rpc_urls(wanted):
        node = Web3(_Provider(candidate, timeout_seconds))
        try:
            if (served := quantity(rpc(node, "eth_chainId"))) == wanted:
                return node
            trouble = WrongChain(f"The node serves chain {served}, not {wanted}.")
        except NodeFailed as error:
            trouble = error
    raise trouble


def rpc(node: Web3, method: str, *params: Any) -> Any:
    """The raw result of a call. Raises NodeRefused if the node says no, NodeFailed."""
    answer: Any = node.provider.make_request(RPCEndpoint(method), list(params))
    if (error := answer.get("error")) is not None:
        # Its message is the node's own, and may name the key; its code says enough.
        code = error.get("code") if isinstance(error, dict) else None
        kind = NodeBusy if isinstance(error, dict) and _is_busy(error) else NodeRefused
        raise kind(f"The node refused {method} (error {code if code else 'unknown'}).")
    if "result" not in answer:
        raise NodeFailed(f"The node answered {method} with nonsense.")
    return answer["result"]


def _is_busy(error: dict[str, Any]) -> bool:
    return error.get("code") == 429 or bool(BUSY.search(str(error.get("message"))))


def quantity(text: Any, *, digits: int = 15) -> int:
    """A number as JSON-RPC writes it; by default one that fits a bigint.

    Raises NodeFailed if it is none.
    """
    if not (isinstance(text, str) and re.fullmatch(f"0x[0-9a-fA-F]{{1,{digits}}}", text)):
        raise NodeFailed("The node wrote a number that is none.")
    return int(text, 16)


def word(text: Any) -> str:
    """A 32-byte word in lower-case hex. Raises NodeFailed if it is none."""
    if not (isinstance(text, str) and re.fullmatch("0x[0-9a-fA-F]{64}", text)):
        raise NodeFailed("The node wrote a hash that is none.")
    return text.lower()


@dataclass(frozen=True, slots=True)
class Header:
    """What identifies a block."""

    number: int
    hash: str
    timestamp: datetime


Tag = Literal["latest", "safe", "finalized"]


def header(node: Web3, block: int | Tag) -> Header:
    """The header of a block, by number or tag. Raises Trouble, also if there is none."""
    at = block if isinstance(block, str) else hex(block)
    found = rpc(node, "eth_getBlockByNumber", at, False)
    if found is None:
        raise BlockUnknown(f"The node does not have block {block}.")
    if not isinstance(found, dict):
        raise NodeFailed("The node wrote a block that is none.")
    number = quantity(found.get("number"))
    if isinstance(block, int) and number != block:
        raise NodeFailed(f"The node was asked for block {block} and answered with {number}.")
    try:
        timestamp = datetime.fromtimestamp(quantity(found.get("timestamp")), UTC)
    except (ValueError, OverflowError, OSError):
        raise NodeFailed("The node wrote a time that is none.") from None
    return Header(number=number, hash=word(found.get("hash")), timestamp=timestamp)


def final_block(node: Web3, tag: Literal["safe", "finalized"], head: Header) -> int:
    """The number of the block that the node calls safe or finalized.

    Raises TagUnknown if it can't tell, NodeFailed if what it tells can't be true.
    """
    try:
        final = header(node, tag)
    except (NodeRefused, BlockUnknown):
        raise TagUnknown(
            f"The node knows no {tag} block. Use another node, or set the chain's finality to "
            "confirmations."
        ) from None
    if final.number > head.number or header(node, final.number).hash != final.hash:
        raise NodeFailed(f"The node names a {tag} block that is not on its chain.")
    return final.number


def check_genesis(node: Web3, *, name: str, genesis_hash: str) -> None:
    """Make sure that the node serves the very chain that is known under this name.

    Raises ChainStartedOver if it is another one of the same id, NodeFailed.
    """
    if header(node, 0).hash != genesis_hash:
        raise ChainStartedOver(
            f"This is not the chain that {name} was set up with: its first block differs. Nothing "
            "is minted. If the chain started over, say so: manage.py watch_chain --accept-new-chain"
        )


def read_uint(node: Web3, contract: str, view: str, *addresses: str, block: str = "latest") -> int:
    """What a view like `creditPrice(address)` returns; 0 where there is no contract.

    Raises Trouble.
    """
    data = Web3.keccak(text=view)[:4]
    for address in addresses:
        data += bytes.fromhex(address[2:]).rjust(32, b"\0")
    answer = rpc(node, "eth_call", {"to": contract, "data": "0x" + data.hex()}, block)
    return 0 if answer == "0x" else quantity(answer, digits=64)
