"""The hash chain, the commitments and the draws, checked by code that knows rules.md alone."""

import hashlib
import hmac
import json
import random

import pytest

import engine
from engine import GOD_V1, Choice
from matches import battle, chance, selectors
from matches.models import Match
from matches.sealing import seal, unseal
from tests.matches.helpers import SIDES, Table, escrow_of, sum_over_all_accounts

INFLUENCES = ("sun", "water", "moon", "earth")


def sha256(data):
    return hashlib.sha256(data).digest()


def chained(bodies):
    """The chain's hash after each event (rules.md, section 6)."""
    h, hashes = b"", []
    for body in bodies:
        text = json.dumps(body, sort_keys=True, separators=(",", ":"))
        h = sha256(h + text.encode())
        hashes.append(h)
    return hashes


def verify(match):
    """Replay a match from what is published of it; return the last state. Fails on any lie."""
    events = list(match.events.order_by("n"))
    assert [event.n for event in events] == list(range(len(events)))
    bodies = [event.body for event in events]
    hashes = chained(bodies)
    assert [event.chain_hash for event in events] == [h.hex() for h in hashes]
    secret = bytes.fromhex(unseal(match.sealed_secret))
    header = bodies[0]
    assert header["secret_hash"] == sha256(secret).hex() == match.secret_hash
    rulings = header["rulings"]
    ruleset = engine.Ruleset(**rulings)

    state = engine.start(ruleset)
    locked = {}
    for body, h in zip(bodies[1:], hashes[1:], strict=True):

        def draw(left, h=h):
            assert list(left) == [i for i in INFLUENCES if i in left]
            drawn = hmac.new(secret, h, hashlib.sha256).hexdigest()
            return left[int(drawn, 16) % len(left)]

        match body["type"]:
            case "locked":
                assert body["movement"] == state.movement
                locked[body["ape"]] = body["commitment"]
            case "potion":
                state = engine.drink(state, body["ape"], ruleset)
            case "resign":
                state = engine.resign(state, body["ape"])
            case "movement":
                assert body["movement"] == state.movement
                for side in SIDES:
                    check_commitment(header["match"], state.movement, side, body, locked)
                choices = [body[s] and Choice(body[s]["move"], body[s]["tribute"]) for s in SIDES]
                state = engine.resolve(state, *choices, draw=draw, ruleset=ruleset)
                locked = {}
    return state


def check_commitment(match_id, movement, side, body, locked):
    shown = body[side]
    if shown is None:
        return
    text = ":".join(
        (
            "bas",
            match_id,
            str(movement),
            side,
            shown["move"],
            shown["tribute"] or "none",
            shown["salt"],
        )
    )
    assert sha256(text.encode()).hex() == locked[side]


def play_whole_match(seed, *, misses):
    """A match of random legal choices, each side in one step or by commitment as chance has it."""
    rng = random.Random(seed)
    table = Table()
    for _ in range(3_000):
        match = table.now()
        if match.status != Match.Status.RUNNING:
            return match
        state = battle.state_of(match)
        play_movement(table, state, rng, misses)
    raise AssertionError("the match does not end")


def play_movement(table, state, rng, misses):
    for side in SIDES:
        ape = getattr(state, side)
        if state.phase != "opening" and ape.potions and ape.health < 8 and rng.random() < 0.5:
            table.drink(side)
    chosen = {
        side: rng.choice(engine.legal_choices(state, side, GOD_V1))
        for side in rng.sample(SIDES, 2)
        if rng.random() >= misses
    }
    committed = []
    for side, choice in chosen.items():
        if rng.random() < 0.5:
            table.play(side, choice, state.movement)
        else:
            table.lock_in(side, choice, state.movement)
            committed.append(side)
    if len(chosen) < 2:
        table.miss()
    for side in committed:
        if rng.random() < misses:
            return table.miss()
        table.reveal(side, chosen[side], state.movement)
    return None


@pytest.mark.django_db
@pytest.mark.parametrize(("seed", "misses"), [(1, 0), (2, 0.03), (3, 0.15)])
def test_a_whole_match_replays_to_the_same_state_and_verifies(seed, misses):
    match = play_whole_match(seed, misses=misses)
    assert verify(match) == battle.state_of(match)
    assert match.event_count == match.events.count()
    assert escrow_of(match) == sum_over_all_accounts() == 0
    table = selectors.table(match, match.seats.first().wallet)
    assert sha256(bytes.fromhex(table["server_secret"])).hex() == table["secret_hash"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    "lie", [{"a": None}, {"movement": 2}, {"b": {"move": "rock", "tribute": None, "salt": "00"}}]
)
def test_a_match_that_was_tampered_with_does_not_verify(lie):
    table = Table()
    table.movement(Choice("paper"), Choice("scissors"))
    table.resign("a")
    verify(table.now())
    event = table.now().events.get(body__type="movement")
    event.body |= lie
    event.save()
    with pytest.raises(AssertionError):
        verify(table.now())


def test_a_commitment_is_what_the_rules_say():
    text = "bas:6f0c1f6e-0000-4000-8000-000000000000:12:b:rock:wilds:" + "ab" * 32
    assert chance.commitment(
        match_id="6f0c1f6e-0000-4000-8000-000000000000",
        movement=12,
        side="b",
        choice=Choice("rock", "wilds"),
        salt="ab" * 32,
    ) == hashlib.sha256(text.encode()).hexdigest()  # fmt: skip
    assert (
        chance.commitment(match_id="m", movement=1, side="a", choice=Choice("alpha"), salt="00")
        == hashlib.sha256(b"bas:m:1:a:alpha:none:00").hexdigest()
    )


def test_known_draws_come_out_as_they_did():
    secret, h = "11" * 32, "22" * 32
    number = int(hmac.new(b"\x11" * 32, b"\x22" * 32, "sha256").hexdigest(), 16)
    draw = chance.draw_from(secret, h)
    for left in (INFLUENCES, INFLUENCES[1:], INFLUENCES[:2], ("earth",)):
        assert draw(left) == left[number % len(left)]


def test_draws_are_even():
    counts = dict.fromkeys(INFLUENCES, 0)
    for n in range(4_000):
        counts[chance.draw_from("11" * 32, f"{n:064x}")(INFLUENCES)] += 1
    assert all(abs(count - 1_000) < 150 for count in counts.values())


def test_what_is_sealed_opens_again_and_its_length_tells_nothing():
    choices = [
        {"move": move, "tribute": tribute, "salt": "00" * 32}
        for move in engine.MOVES
        for tribute in (None, *engine.TRIBUTES)
    ]
    sealed = [seal(choice) for choice in choices]
    assert [unseal(each) for each in sealed] == choices
    assert len({len(each) for each in sealed}) == 1
    assert unseal(seal("x" * 1_000)) == "x" * 1_000
