"""Transcripts written by rules.md alone, for the tests of the verifier."""

import hashlib
import hmac
import json
from dataclasses import asdict

from engine import GOD_V1, Choice, drink, resign, resolve, start
from tests.engine.helpers import SEATS, choice, random_event

MATCH = "6f0c1f6e-1111-4222-8333-444455556666"
ADDRESSES = {"a": "0x" + "Aa" * 20, "b": "0x" + "Bb" * 20}


def sha256(data):
    return hashlib.sha256(data).hexdigest()


class Writer:
    """Plays a match and writes it down, as an honest server does."""

    def __init__(self, rng, stake=100, fee_bps=250, ruleset=GOD_V1):
        self.rng, self.ruleset, self.state = rng, ruleset, start(ruleset)
        self.secret = self.random_hex()
        self.stake, self.fee_bps = stake, fee_bps
        self.events, self.hash, self.ended_by = [], "", None
        self.header = {
            "match": MATCH,
            "ruleset": ruleset.name,
            "rulings": asdict(ruleset),
            "stake": str(stake),
            "fee_bps": fee_bps,
            "secret_hash": sha256(bytes.fromhex(self.secret)),
            **ADDRESSES,
        }
        self.record({"type": "start", **self.header})

    def random_hex(self):
        return self.rng.randbytes(32).hex()

    def record(self, body):
        text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        self.hash = sha256(bytes.fromhex(self.hash) + text.encode())
        self.events.append(body | {"hash": self.hash})

    def draw(self, left):
        digest = hmac.new(bytes.fromhex(self.secret), bytes.fromhex(self.hash), "sha256")
        return left[int(digest.hexdigest(), 16) % len(left)]

    def lock(self, seat, choice):
        salt = self.random_hex()
        text = f"bas:{MATCH}:{self.state.movement}:{seat}:{choice.move}:{choice.tribute or 'none'}"
        locked = {"type": "locked", "ape": seat, "movement": self.state.movement}
        self.record(locked | {"commitment": sha256(f"{text}:{salt}".encode())})
        return {"move": choice.move, "tribute": choice.tribute, "salt": salt}

    def movement(self, a, b):
        """A movement; a bare move stands for a choice without tribute, None for a missed one."""
        chosen = {"a": a and choice(a), "b": b and choice(b)}
        shown = {seat: chosen[seat] and self.lock(seat, chosen[seat]) for seat in SEATS}
        self.record({"type": "movement", "movement": self.state.movement, **shown})
        self.state = resolve(
            self.state, chosen["a"], chosen["b"], draw=self.draw, ruleset=self.ruleset
        )

    def potion(self, seat):
        self.record({"type": "potion", "ape": seat})
        self.state = drink(self.state, seat, self.ruleset)

    def resign(self, seat):
        self.record({"type": "resign", "ape": seat})
        self.state = resign(self.state, seat)
        self.ended_by = "resigned"

    def void(self, reason):
        self.record({"type": "void", "reason": reason})
        self.ended_by = "voided"

    def random(self, **odds):
        """Play at random to the end."""
        while self.state.status == "running":
            event = random_event(self.rng, self.state, self.ruleset, **odds)
            match event["type"]:
                case "movement":
                    self.movement(*(e and choice_of(e) for e in (event["a"], event["b"])))
                case "potion":
                    self.potion(event["ape"])
                case "resign":
                    self.resign(event["ape"])
        return self

    def transcript(self):
        pot, winner, voided = 2 * self.stake, self.state.winner, self.ended_by == "voided"
        fee = pot * self.fee_bps // 10_000 if winner else 0
        payouts = dict.fromkeys(SEATS, "0") | {winner: str(pot - fee)}
        document = {
            "format": "bas-transcript-1",
            "header": self.header,
            "server_secret": self.secret,
            "events": self.events,
            "chain_hash": self.hash,
            "final": self.state.to_json(),
            "result": {
                "status": "cancelled" if voided else self.state.status,
                "winner": winner,
                "ended_by": self.ended_by or why(self.state),
                "pot": str(pot),
                "fee": str(fee),
                "payouts": payouts if winner else dict.fromkeys(SEATS, str(self.stake)),
            },
        }
        return json.loads(json.dumps(document))  # no part of it is the same object as another


def choice_of(shown):
    return Choice(shown["move"], shown["tribute"])


def why(state):
    if 3 in (state.a.misses, state.b.misses):
        return "missed"
    return "movements" if state.status == "draw" else "rounds"
