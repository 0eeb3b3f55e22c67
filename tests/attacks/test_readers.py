"""Whatever a node, a wallet or a transcript's writer says is read strictly, or refused in order."""

import contextlib
import copy

from eth_abi import encode
from eth_abi.exceptions import DecodingError
from eth_utils.address import is_checksum_address, to_checksum_address
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts import contract_wallets, withdrawal_events
from contracts.events import decode, deposited_topic
from contracts.node import Trouble
from contracts.withdrawal_events import withdrawn_topic
from engine import Choice
from engine.replay import ReplayError
from engine.state import MOVES, TRIBUTES
from engine.verify import verify
from matches import chance
from tests.engine.test_verify import of_all_kinds

import bas_site.demo  # noqa: F401  # isort: skip - knows where the client is
from bas_client import protocol  # isort: skip

VAULT = to_checksum_address("0x" + "ab" * 20)
fuzzed = settings(max_examples=100, deadline=None)
HEX_DIGITS = "0123456789abcdefABCDEF"
junk = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**300), 2**300)
    | st.floats()
    | st.text(max_size=70)
    | st.sampled_from(["", "0x", "0x0", "0x" + "ff" * 32, "0x" + "FF" * 20, "\ud800", "0x१"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=6,
)
words = st.text(HEX_DIGITS, min_size=64, max_size=64).map("0x{}".format)
addresses = st.integers(0, 2**160 - 1).map("0x{:064x}".format)
numbers = st.integers(0, 2**60).map(hex)


def logs(topic):
    """Events as a node writes them, most of them with something wrong."""
    right = {
        "address": st.sampled_from([VAULT, VAULT.lower()]),
        "topics": st.tuples(st.just(topic), addresses, addresses, words).map(list),
        "data": words,
        "transactionHash": words,
        "blockHash": words,
        "logIndex": st.integers(0, 2**20).map(hex),
        "blockNumber": numbers,
        "removed": st.just(False),
    }
    return st.fixed_dictionaries(right) | st.fixed_dictionaries(
        {name: values | junk for name, values in right.items()}
    )


def assert_sound(event, *, number):
    assert event.vault == VAULT
    assert is_checksum_address(event.player)
    assert is_checksum_address(event.token)
    assert 0 <= event.amount < 2**256
    assert 0 <= number < 2**256
    assert 0 <= event.block_number < 2**60
    assert 0 <= event.log_index < 2**28
    for told in (event.tx_hash, event.block_hash):
        assert int(told, 16) < 2**256
        assert len(told) == 66
        assert told == told.lower()


@fuzzed
@given(st.lists(logs(deposited_topic()), max_size=2) | junk)
def test_logs_of_deposits_are_read_or_refused(told):
    with contextlib.suppress(Trouble):
        for event in decode(told, {VAULT}, 0, 2**60):
            assert_sound(event, number=event.number)


class Telling:
    """A node that tells of withdrawals what it likes."""

    def __init__(self, told):
        self.provider, self.told = self, told

    def make_request(self, _method, _parameters):
        return {"jsonrpc": "2.0", "id": 1, "result": self.told}


@fuzzed
@given(st.lists(logs(withdrawn_topic()), max_size=2) | junk)
def test_logs_of_withdrawals_are_read_or_refused(told):
    with contextlib.suppress(Trouble):
        for event in withdrawal_events.read_withdrawn(Telling(told), {VAULT}, 0, 2**60):
            assert_sound(event, number=event.voucher)


wrappers = st.binary(max_size=300) | st.tuples(
    st.binary(min_size=20, max_size=20), st.binary(max_size=100), st.binary(max_size=100)
).map(lambda parts: encode(["address", "bytes", "bytes"], parts))


@fuzzed
@given(wrappers, st.lists(st.tuples(st.integers(0, 400), st.binary(max_size=32)), max_size=3))
def test_a_wrapped_signature_is_taken_apart_or_refused(wrapper, patches):
    """EIP-6492: an ABI-encoded tuple out of the hands of whoever logs in."""
    for at, patch in patches:
        wrapper = wrapper[:at] + patch + wrapper[at + len(patch) :]
    with contextlib.suppress(DecodingError):
        told = contract_wallets._arguments(VAULT, bytes(32), wrapper + contract_wallets.WRAPPED)
        assert len(told) % 32 == 0


HONEST = of_all_kinds()


def places(value, way=()):
    """The way to each part of a document."""
    yield way
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*way, key))


@fuzzed
@given(st.lists(st.tuples(st.sampled_from(list(places(HONEST))[1:]), junk), max_size=3) | junk)
def test_a_transcript_with_anything_in_any_place_is_refused_in_order(edits):
    document = copy.deepcopy(HONEST) if isinstance(edits, list) else edits
    changed = isinstance(edits, list)
    try:
        for (*way, last), value in edits if changed else ():
            place = document
            for step in way:
                place = place[step]
            place[last] = value
    except (LookupError, TypeError, ValueError, AttributeError):
        return  # an earlier edit took the place away
    try:
        verify(document)
    except ReplayError:
        return
    assert document == HONEST


choices = st.builds(Choice, st.sampled_from(MOVES), st.none() | st.sampled_from(TRIBUTES))
locked_in = st.fixed_dictionaries(
    {
        "match_id": st.uuids().map(str),
        "movement": st.integers(1, 10**6),
        "side": st.sampled_from("ab"),
        "choice": choices,
        "salt": st.binary(min_size=32, max_size=32).map(bytes.hex),
    }
)


@fuzzed
@given(locked_in, locked_in)
def test_two_commitments_are_the_same_only_for_the_same_choice_in_the_same_place(one, other):
    """And the server and the client make the same one."""
    assert chance.commitment(**one) == protocol.commitment(**one)
    for name in one:
        mixed = one | {name: other[name]}
        same = chance.commitment(**mixed) == chance.commitment(**one)
        assert same == (mixed == one)
