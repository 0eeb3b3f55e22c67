"""Random lives of withdrawals: whatever happens in whatever order, no credit is lost or doubled."""

import random
from collections import Counter
from typing import Any

import pytest

from contracts.models import Redemption, Withdrawal
from contracts.withdrawals import (
    TooLateToCancel,
    approve_withdrawal,
    cancel_withdrawal,
    reject_withdrawal,
)
from tests.contracts.withdraw_world import NATIVE, House, new_house, operator
from tests.contracts.world import CONFIRMATIONS, GAS, PRICE, World
from wallets.errors import Conflict

FUNDS = 40
STEPS = 90
PLAYERS = 2


class Life:
    """A seeded life of a house with a few players."""

    def __init__(self, house: House, seed: int) -> None:
        self.house = house
        self.chance = random.Random(seed)
        self.players = house.world.players[:PLAYERS]
        self.operator = operator("decide_withdrawal")
        self.snapshots: list[str] = []
        self.done: Counter[str] = Counter()

    def one(self, *statuses: str) -> Withdrawal | None:
        found = Withdrawal.objects.filter(status__in=statuses).select_related("wallet")
        return self.chance.choice(list(found.order_by("id"))) if found else None

    def request(self) -> None:
        player = self.chance.choice(self.players)
        most = min(self.house.balance(player), 8)
        if most > 0:
            self.house.ask(player, self.chance.randint(1, most))

    def cancel(self) -> None:
        if withdrawal := self.one(*Withdrawal.Status.values):
            try:
                cancel_withdrawal(wallet=withdrawal.wallet, withdrawal_id=withdrawal.pk)
            except TooLateToCancel:
                assert withdrawal.status not in ("requested", "approved", "cancelled")

    def decide(self) -> None:
        decide = self.chance.choice([approve_withdrawal, approve_withdrawal, reject_withdrawal])
        if withdrawal := self.one("requested", "approved", "signed", "returned"):
            try:
                decide(operator=self.operator, withdrawal_id=withdrawal.pk)
            except Conflict:
                assert withdrawal.status in ("signed", "returned")

    def sign(self) -> None:
        if withdrawal := self.one("approved"):
            self.house.sign(withdrawal)

    def redeem(self) -> None:
        """Send any voucher that was ever signed: the chain decides."""
        signed = (
            Withdrawal.objects.exclude(signature="")
            .select_related("wallet", "token")
            .order_by("id")
        )
        if signed:
            withdrawal = self.chance.choice(list(signed))
            sent = self.house.call(withdrawal).transact({"from": self.house.relayer, "gas": GAS})
            receipt = self.house.world.node.eth.wait_for_transaction_receipt(sent)
            self.done["redeemed"] += receipt["status"]

    def scan(self) -> None:
        self.house.scan()

    def mine(self) -> None:
        self.house.world.mine(self.chance.randint(1, CONFIRMATIONS))

    def expire(self) -> None:
        if withdrawal := self.one("signed"):
            moment = withdrawal.deadline + self.chance.randint(-1, 1)
            if moment > self.house.now:
                self.house.world.chain_node.rpc("evm_setNextBlockTimestamp", moment)
                self.house.world.mine()

    def sweep(self) -> None:
        if self.chance.random() < 0.7:
            self.house.confirm()
        self.done["returned"] += self.house.sweep()

    def remember(self) -> None:
        self.snapshots.append(self.house.world.chain_node.rpc("evm_snapshot"))

    def reorganise(self) -> None:
        """Go back to a remembered block, never past one that a sweep has relied on."""
        if not self.snapshots or Withdrawal.objects.filter(status="returned").exists():
            return
        at = self.chance.randrange(len(self.snapshots))
        head = self.house.world.head
        assert self.house.world.chain_node.rpc("evm_revert", self.snapshots[at])
        del self.snapshots[at:]
        self.house.world.chain_node.rpc("evm_increaseTime", 7)
        self.house.world.mine(max(1, head - self.house.world.head + 1))
        self.done["reorganised"] += 1

    WEIGHTS = {
        request: 5,
        cancel: 1,
        decide: 2,
        sign: 6,
        redeem: 5,
        scan: 4,
        mine: 2,
        expire: 1,
        sweep: 1,
        remember: 3,
        reorganise: 2,
    }

    def step(self) -> None:
        (action,) = self.chance.choices(list(self.WEIGHTS), list(self.WEIGHTS.values()))
        self.done[action.__name__] += 1
        action(self)

    def check(self) -> None:
        """Each credit is available, pending, or out of the books; and the audit is green."""
        held = sum(
            self.house.balance(player, kind)
            for player in self.players
            for kind in ("available", "pending")
        )
        paid = sum(w.credits for w in Withdrawal.objects.filter(status="paid"))
        assert held + paid == PLAYERS * FUNDS
        assert not self.house.red()

    def settle(self) -> None:
        """Once all is quiet, the books say what the chain says."""
        self.house.world.mine(CONFIRMATIONS)
        self.house.scan()
        self.check()
        used = {
            w.pk
            for w in Withdrawal.objects.all()
            if self.house.world.vault.functions.isUsed(w.voucher).call()
        }
        paid = set(Withdrawal.objects.filter(status="paid").values_list("pk", flat=True))
        assert used == paid
        left = sum(w.credits for w in Withdrawal.objects.filter(pk__in=used))
        coins = self.house.coins(self.house.world.vault.address)
        assert coins == (PLAYERS * FUNDS - left) * PRICE
        assert not Redemption.objects.exclude(trouble="").exists()


@pytest.mark.parametrize("seed", range(10))
def test_credits_are_never_lost_or_doubled(world: World, settings: Any, seed: int):
    settings.WITHDRAWAL_APPROVAL_CREDITS = 5
    house = new_house(world)
    house.own("setDailyLimit", NATIVE, 60 * PRICE)
    life = Life(house, seed)
    for player in life.players:
        house.fund(player, FUNDS)

    for _ in range(STEPS):
        life.step()
        life.check()
    life.settle()

    life.done["paid"] = Withdrawal.objects.filter(status="paid").count()
    life.done["reversed"] = Redemption.objects.filter(
        status="orphaned", transfer__isnull=False
    ).count()
    print("LIFE", dict(life.done))
