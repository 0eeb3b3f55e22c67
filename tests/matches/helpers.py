"""What the tests of matches share: players, a table to play at, and a reader of its records."""

import itertools
import secrets
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from django.db import connection, transaction
from django.utils import timezone

from engine import Ape, Choice, State
from matches import battle, chance, lobby
from matches.clock import latest_due
from matches.models import Match
from wallets import ledger
from wallets.accounts import wallet_for
from wallets.errors import Problem
from wallets.models import Account

SIDES = ("a", "b")
ROCK, PAPER, SCISSORS = Choice("rock"), Choice("paper"), Choice("scissors")
_serial = itertools.count(1)


def player(credits_=1_000):
    """A wallet that nobody else has, with credits minted to it."""
    n = next(_serial)
    wallet = wallet_for(f"0x{n:040x}")
    if credits_:
        ledger.mint(wallet=wallet, credits_=credits_, key=f"test:{secrets.token_hex(8)}")
    return wallet


def available(wallet):
    return ledger.balance(ledger.player_account(wallet))


def escrow_of(match):
    return Account.objects.get(key=f"match:{match.pk}").balance


def sum_over_all_accounts():
    return sum(ledger.balance(account) for account in Account.objects.all())


class Table:
    """A running match and its two players, each known by the side played."""

    def __init__(self, stake=100, visibility="open", credits_=1_000):
        self.wallets = {side: player(credits_) for side in SIDES}
        self.match = lobby.create_match(
            wallet=self.wallets["a"], stake=stake, visibility=visibility
        )
        lobby.join_match(
            wallet=self.wallets["b"],
            match_id=self.match.pk,
            invitation=self.match.invitation,
        )
        self.id = self.match.pk
        self.salts = {}

    def now(self):
        return Match.objects.get(pk=self.id)

    @property
    def state(self):
        return battle.state_of(self.now())

    def events(self):
        return [event.body for event in self.now().events.order_by("n")]

    def act(self, action, side, **arguments):
        """Act as a side. What fails is undone, as it is where no test has a transaction open."""
        with transaction.atomic():
            action(wallet=self.wallets[side], match_id=self.id, **arguments)

    def play(self, side, choice, movement=None):
        self.act(battle.play, side, movement=movement or self.state.movement, choice=choice)

    def commitment(self, side, choice, movement=None, salt=None):
        """A commitment of this side's; its salt is kept for the reveal."""
        movement = movement or self.state.movement
        salt = salt or secrets.token_hex(32)
        self.salts[side, movement] = salt
        return chance.commitment(
            match_id=str(self.id), movement=movement, side=side, choice=choice, salt=salt
        )

    def lock_in(self, side, choice, movement=None):
        movement = movement or self.state.movement
        commitment = self.commitment(side, choice, movement)
        self.act(battle.lock_in, side, movement=movement, commitment=commitment)
        return commitment

    def reveal(self, side, choice, movement=None, salt=None):
        movement = movement or self.state.movement
        salt = salt or self.salts[side, movement]
        self.act(battle.reveal, side, movement=movement, choice=choice, salt=salt)

    def drink(self, side):
        self.act(battle.drink, side)

    def resign(self, side):
        self.act(battle.resign, side)

    def movement(self, a, b):
        """A whole movement, in one step each."""
        self.play("a", a)
        self.play("b", b)

    def pass_deadline(self):
        """Make the running stage's deadline one that has just passed."""
        passed = latest_due(timezone.now()) - timedelta(seconds=1)
        Match.objects.filter(pk=self.id).update(deadline=passed)

    def miss(self):
        """Let the time of the running stage pass, and somebody notice."""
        self.pass_deadline()
        return battle.catch_up(match_id=self.id)

    def put(self, **fields):
        """Put the match in the middle of a round, with these fields of the state."""
        usual = {"round": 1, "phase": "sun", "movement": 5, "in_phase": 2, "cycle": 1}
        state = State(**(usual | {"used": ("sun",)} | fields))
        Match.objects.filter(pk=self.id).update(state=state.to_json())

    def almost_won_by(self, side):
        """Put the match where this side wins it by winning the next movement."""
        apes = {"a": Ape(health=1), "b": Ape(health=1)} | {side: Ape(rounds=2)}
        self.put(round=3, **apes)


def win_for(table, side):
    """One movement that this side wins."""
    table.movement(*((PAPER, ROCK) if side == "a" else (ROCK, PAPER)))


def at_once(*actions):
    """Run the actions at the same instant, each in a thread of its own, on its own connection.

    Returns, for each, what it returned or raised.
    """
    barrier = threading.Barrier(len(actions))

    def run(action):
        try:
            barrier.wait(timeout=10)
            return action()
        except Exception as error:
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(len(actions)) as pool:
        return list(pool.map(run, actions))


def answer_behind(change, action):
    """What an action answers that comes while a change is not committed yet, and has to wait."""
    done = threading.Event()

    def run():
        try:
            return action()
        except Problem as problem:
            return problem
        finally:
            done.set()
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            change()
            waiting = pool.submit(run)
            _wait_for_a_waiter(done)
        return waiting.result()


def _wait_for_a_waiter(done):
    """Until some other connection waits for a lock of ours, or has gone on without it."""
    query = "SELECT count(*) FROM pg_locks WHERE NOT granted"
    with connection.cursor() as cursor:
        for _ in range(500):
            cursor.execute(query)
            if done.is_set() or cursor.fetchone() != (0,):
                return
            time.sleep(0.01)
    raise AssertionError("nobody waits")


def count_of(results, kind):
    return sum(isinstance(result, kind) for result in results)
