"""The ledger as a few dictionaries: what every call must come to, without a database."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from wallets.errors import IdempotencyConflict, InsufficientCredits, LedgerRefusal, Problem
from wallets.ledger import Draft
from wallets.models import Account, Transfer


class Refused(Exception):
    """The call changes nothing and raises this kind of problem."""

    def __init__(self, problem: type[Problem]) -> None:
        super().__init__(problem.__name__)
        self.problem = problem


@dataclass(frozen=True)
class Place:
    """An account."""

    pk: int
    kind: Account.Kind
    asset: str

    @property
    def system(self) -> bool:
        return self.kind in Account.SYSTEM


@dataclass
class Model:
    places: dict[int, Place] = field(default_factory=dict)
    balances: dict[int, int] = field(default_factory=dict)
    versions: dict[int, int] = field(default_factory=dict)
    posted: dict[str, Draft] = field(default_factory=dict)
    # Known only once Postgres has handed them out.
    ids: dict[str, int] = field(default_factory=dict)

    def open(self, place: Place) -> None:
        self.places[place.pk] = place
        self.balances.setdefault(place.pk, 0)
        self.versions.setdefault(place.pk, 0)

    def post(self, drafts: Sequence[Draft]) -> list[bool]:
        """Post all or none, and say which had been posted before.

        Of several things that are wrong, the one that is looked at first is told.
        """
        after = Model(
            self.places, dict(self.balances), dict(self.versions), dict(self.posted), self.ids
        )
        if not all(draft.legs for draft in drafts):
            raise Refused(LedgerRefusal)
        replayed = [after._posted_before(draft) for draft in drafts]
        new = [draft for draft, before in zip(drafts, replayed, strict=True) if not before]
        for draft in new:
            after._move(draft)
        for draft in new:
            after._check_whole(draft)
        if not all(same(after.posted[draft.key], draft) for draft in drafts):
            raise Refused(IdempotencyConflict)
        for draft in new:
            if draft.reverses is not None:
                after._check_reversal(draft)
        self.balances, self.versions, self.posted = after.balances, after.versions, after.posted
        return replayed

    def _posted_before(self, draft: Draft) -> bool:
        before = draft.key in self.posted
        self.posted.setdefault(draft.key, draft)
        return before

    def _move(self, draft: Draft) -> None:
        for leg in draft.legs:
            place = self.places.get(leg.account)
            if place is None:
                continue
            self.balances[place.pk] += leg.amount
            if place.system:
                continue
            self.versions[place.pk] += 1
            debt_allowed = (
                draft.kind == Transfer.Kind.DEPOSIT_REVERSAL
                and place.kind == "available"
                and self._kind_of(draft.reverses) == Transfer.Kind.DEPOSIT
            )
            if self.balances[place.pk] < 0 and leg.amount < 0 and not debt_allowed:
                raise Refused(InsufficientCredits)

    def _kind_of(self, transfer: int | None) -> Transfer.Kind | None:
        return next((self.posted[key].kind for key, pk in self.ids.items() if pk == transfer), None)

    def _check_reversal(self, draft: Draft) -> None:
        moved = next(
            (net(self.posted[key]) for key, pk in self.ids.items() if pk == draft.reverses), {}
        )
        taken = net(draft)
        remains = Counter(moved)
        for other in self.posted.values():
            if other.reverses == draft.reverses:
                remains.update(net(other))
        for account, amount in taken.items():
            if account not in moved or sign(amount) != -sign(moved[account]):
                raise Refused(LedgerRefusal)
        for account, amount in moved.items():
            if sign(remains[account]) not in (0, sign(amount)):
                raise Refused(LedgerRefusal)

    def _check_whole(self, draft: Draft) -> None:
        sums: Counter[str] = Counter()
        for leg in draft.legs:
            if leg.account not in self.places:
                raise Refused(LedgerRefusal)
            sums[self.places[leg.account].asset] += leg.amount
        if any(sums.values()):
            raise Refused(LedgerRefusal)


def same(one: Draft, other: Draft) -> bool:
    return content(one) == content(other)


def content(draft: Draft) -> tuple:
    legs = tuple((leg.account, leg.amount) for leg in draft.legs)
    return draft.kind.value, draft.memo, draft.reverses, legs


def net(draft: Draft) -> dict[int, int]:
    """What each account gains of a transfer, all its legs taken together."""
    nets: dict[int, int] = {}
    for leg in draft.legs:
        nets[leg.account] = nets.get(leg.account, 0) + leg.amount
    return nets


def sign(number: int) -> int:
    return (number > 0) - (number < 0)
