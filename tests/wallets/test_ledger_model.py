"""The ledger beside a plain model of it, through thousands of random calls."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import count

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.wallets.ledger_model import Model, Place, Refused, content, net
from wallets import ledger
from wallets.accounts import wallet_for
from wallets.audit import BEGINNING, CHECKS
from wallets.errors import Problem
from wallets.ledger import Draft, Leg, Receipt
from wallets.models import Account, Asset, Transfer

Kind = Transfer.Kind
ASSETS = ("credits", "season")
MOST_ACCOUNTS = 24
NOWHERE = 10**15
OPERATIONS = 3000
AUDIT_EVERY = 20
# Kinds that are given no special treatment.
ORDINARY = st.sampled_from([Kind.STAKE, Kind.REFUND, Kind.PAYOUT, Kind.ADJUSTMENT])
SMALL = st.integers(1, 40)
AMOUNT = st.one_of(SMALL, SMALL, st.integers(1, 2**200))

# One row for each table: any change of any row, or a row more or fewer, gives another.
FINGERPRINT = " UNION ALL ".join(
    f"SELECT count(*), coalesce(sum(hashtextextended(row::text, 0)), 0) FROM wallets_{table} row"
    for table in ("account", "transfer", "posting")
)


def query(sql: str) -> list[tuple]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall()


def every_finding() -> list[str]:
    return [f"{check.truth}: {row}" for check in CHECKS for row in check.find(BEGINNING)]


class LedgerMachine(RuleBasedStateMachine):
    """Calls the ledger and the model with the same things, and expects the same of both."""

    tally: Counter[str] = Counter()

    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        self.numbers = count(1)
        self.steps = 0

    # --- what is there ------------------------------------------------------------------------

    @initialize()
    def begin(self) -> None:
        for asset in ASSETS:
            for kind in Account.Kind:
                self.open_account(kind, asset)
        for place in list(self.model.places.values()):
            if place.kind == Account.Kind.AVAILABLE:
                vault = ledger.system_account(Account.Kind.VAULT, asset=place.asset)
                legs = (Leg(vault.pk, -200), Leg(place.pk, 200))
                self.attempt(Draft(key=self.key(), kind=Kind.DEPOSIT, legs=legs))

    @precondition(lambda self: len(self.model.places) < MOST_ACCOUNTS)
    @rule(kind=st.sampled_from(Account.Kind), asset=st.sampled_from(ASSETS))
    def open(self, kind: Account.Kind, asset: str) -> None:
        self.open_account(kind, asset)

    def open_account(self, kind: Account.Kind, asset: str) -> None:
        if kind in Account.SYSTEM:
            account = ledger.system_account(kind, asset=asset)
        elif kind == Account.Kind.AVAILABLE:
            wallet = wallet_for(f"0x{next(self.numbers):040x}")
            # A wallet has an account for credits in any case.
            self.model.open(Place(ledger.player_account(wallet).pk, kind, ledger.CREDITS))
            account = ledger.player_account(wallet, asset=asset)
            assert ledger.player_account(wallet, asset=asset) == account
        else:
            account = ledger.open_account(kind=kind, key=f"for:{next(self.numbers)}", asset=asset)
        self.model.open(Place(account.pk, kind, asset))

    def key(self) -> str:
        return f"key:{next(self.numbers)}"

    def place(self, data: st.DataObject, test: Callable[[Place], bool] = lambda _: True) -> Place:
        places = [place for place in self.model.places.values() if test(place)]
        return data.draw(st.sampled_from(places))

    # --- calling both -------------------------------------------------------------------------

    def attempt(
        self, *drafts: Draft, by: Callable[[], list[Receipt]] | None = None, never: bool = False
    ) -> None:
        """Post transfers, by the plainest call or another; `never` if no ledger may take them."""
        problem, replayed = None, []
        try:
            replayed = self.model.post(drafts)
        except Refused as refused:
            problem = refused.problem
        assert problem or not never, "the model is too kind"
        changes_nothing = problem is not None or all(replayed)
        before = query(FINGERPRINT) if changes_nothing else None
        post = by or (lambda: ledger.post(*drafts))
        if problem:
            with pytest.raises(Problem) as raised:
                post()
            assert raised.type is problem
        else:
            receipts = post()
            assert [receipt.replayed for receipt in receipts] == replayed
            ids = [receipt.transfer_id for receipt in receipts]
            assert ids == [
                self.model.ids.setdefault(draft.key, pk)
                for draft, pk in zip(drafts, ids, strict=True)
            ]
        if changes_nothing:
            assert query(FINGERPRINT) == before
        self.tally["operations"] += 1
        self.tally["transfers"] += len(drafts)
        self.tally[problem.code if problem else "accepted"] += 1

    # --- transfers ----------------------------------------------------------------------------

    def draft(self, data: st.DataObject) -> Draft:
        """A transfer that is valid, though there may not be enough credits for it."""
        giver = self.place(data, lambda p: p.system or self.model.balances[p.pk] > 0)
        has = self.model.balances[giver.pk]
        most = 100 if giver.system else has + 1
        amounts = data.draw(st.lists(st.integers(1, max(1, most // 2)), min_size=1, max_size=3))
        takers = [self.place(data, lambda p: p.asset == giver.asset) for _ in amounts]
        legs = [Leg(taker.pk, amount) for taker, amount in zip(takers, amounts, strict=True)]
        if data.draw(st.booleans()):
            legs.append(Leg(giver.pk, -sum(amounts)))
        else:
            legs += [Leg(giver.pk, -amount) for amount in amounts]
        return Draft(
            key=self.key(),
            kind=data.draw(ORDINARY),
            memo=data.draw(st.sampled_from(["", "a word"])),
            legs=tuple(data.draw(st.permutations(legs))),
        )

    def replay(self, data: st.DataObject) -> Draft:
        return data.draw(st.sampled_from(list(self.model.posted.values())))

    def changed(self, data: st.DataObject) -> Draft:
        """A transfer that is valid but for its key, which stands for another."""
        draft = self.replay(data)
        legs = tuple(draft.legs)
        return data.draw(
            st.sampled_from(
                [
                    replace(draft, memo=draft.memo + "!"),
                    replace(draft, kind=Kind.PAYOUT if draft.kind != Kind.PAYOUT else Kind.STAKE),
                    replace(draft, legs=tuple(Leg(leg.account, 2 * leg.amount) for leg in legs)),
                    replace(draft, legs=legs + tuple(Leg(legs[0].account, a) for a in (1, -1))),
                    replace(draft, reverses=NOWHERE),
                ]
            )
        )

    def bad(self, data: st.DataObject) -> Draft:
        """A transfer that can't be, whatever there is in the accounts."""
        place = self.place(data)
        other = self.place(data, lambda p: p.asset != place.asset)
        amount = data.draw(SMALL)
        wrongs = [
            (),
            (Leg(place.pk, amount),),
            (Leg(place.pk, amount + 1), Leg(place.pk, -amount)),
            (Leg(NOWHERE, -amount), Leg(place.pk, amount)),
            (Leg(place.pk, -amount), Leg(NOWHERE, amount)),
            (Leg(NOWHERE, -amount), Leg(NOWHERE + 1, amount)),
            (Leg(place.pk, -amount), Leg(other.pk, amount)),
            # Zero in sum, in neither of the two assets.
            (Leg(place.pk, -2), Leg(other.pk, 1), Leg(place.pk, 1)),
        ]
        return Draft(
            key=self.key(), kind=data.draw(ORDINARY), legs=data.draw(st.sampled_from(wrongs))
        )

    @rule(data=st.data(), amount=AMOUNT)
    def mint(self, data: st.DataObject, amount: int) -> None:
        place = self.place(data, lambda p: (p.kind, p.asset) == ("available", "credits"))
        wallet = Account.objects.select_related("wallet").get(pk=place.pk).wallet
        vault = ledger.system_account(Account.Kind.VAULT)
        key = self.key()
        legs = (Leg(vault.pk, -amount), Leg(place.pk, amount))
        self.attempt(
            Draft(key=key, kind=Kind.DEPOSIT, legs=legs),
            by=lambda: [ledger.mint(wallet=wallet, credits_=amount, key=key)],
        )

    @rule(data=st.data(), amount=SMALL, kind=ORDINARY)
    def move(self, data: st.DataObject, amount: int, kind: Kind) -> None:
        source = self.place(data)
        target = self.place(data, lambda p: p.asset == source.asset)
        key = self.key()
        legs = (Leg(source.pk, -amount), Leg(target.pk, amount))
        pair = Account.objects.in_bulk([source.pk, target.pk])
        self.attempt(
            Draft(key=key, kind=kind, legs=legs),
            by=lambda: [
                ledger.move(
                    kind=kind,
                    key=key,
                    source=pair[source.pk],
                    target=pair[target.pk],
                    amount=amount,
                )
            ],
        )

    @rule(data=st.data(), too_much=SMALL)
    def ask_for_more_than_there_is(self, data: st.DataObject, too_much: int) -> None:
        source = self.place(data, lambda p: not p.system)
        target = self.place(data, lambda p: p.asset == source.asset and p != source)
        amount = max(0, self.model.balances[source.pk]) + too_much
        legs = (Leg(source.pk, -amount), Leg(target.pk, amount))
        legs = data.draw(st.permutations(legs))
        self.attempt(Draft(key=self.key(), kind=Kind.STAKE, legs=tuple(legs)), never=True)

    @rule(data=st.data())
    def post_one(self, data: st.DataObject) -> None:
        self.attempt(self.draft(data))

    @rule(data=st.data(), size=st.integers(2, 6))
    def post_many(self, data: st.DataObject, size: int) -> None:
        drafts: list[Draft] = []
        for _ in range(size):
            what = data.draw(st.sampled_from(["new", "new", "new", "again", "same call"]))
            if what == "again":
                drafts.append(self.replay(data))
            elif what == "same call" and drafts:
                drafts.append(data.draw(st.sampled_from(drafts)))
            else:
                drafts.append(self.draft(data))
        self.attempt(*drafts)

    @rule(data=st.data(), size=st.integers(0, 5))
    def post_many_of_which_one_is_bad(self, data: st.DataObject, size: int) -> None:
        drafts = [self.draft(data) for _ in range(size)]
        bad = self.changed(data) if data.draw(st.booleans()) else self.bad(data)
        drafts.insert(data.draw(st.integers(0, size)), bad)
        self.attempt(*drafts, never=True)

    @rule(data=st.data())
    def post_again(self, data: st.DataObject) -> None:
        self.attempt(self.replay(data))

    @rule(data=st.data())
    def post_a_key_for_two_things_in_one_call(self, data: st.DataObject) -> None:
        draft = self.draft(data)
        self.attempt(draft, replace(draft, memo="another"), never=True)

    # --- reversals ----------------------------------------------------------------------------

    @rule(data=st.data())
    def reverse(self, data: st.DataObject) -> None:
        """All of any transfer, reversals included; a deposit may leave its player in debt."""
        original = self.replay(data)
        pk = self.model.ids[original.key]
        deposit = original.kind == Kind.DEPOSIT and data.draw(st.booleans())
        key = f"{original.key}:reversed" if deposit else self.key()

        def call() -> list[Receipt]:
            transfer = Transfer.objects.get(pk=pk)
            if deposit:
                return ledger.take_back([transfer])
            return [ledger.reverse(transfer=transfer, key=key)]

        self.attempt(
            Draft(
                key=key,
                kind=Kind.DEPOSIT_REVERSAL if deposit else Kind.REVERSAL,
                legs=tuple(Leg(leg.account, -leg.amount) for leg in original.legs),
                reverses=pk,
            ),
            by=call,
        )

    @rule(data=st.data(), amount=st.one_of(SMALL, st.none()))
    def reverse_a_part(self, data: st.DataObject, amount: int | None) -> None:
        """Of one giver and one taker; too much, or what has been reversed already, is refused."""
        original = self.replay(data)
        nets = net(original)
        gave = [account for account, total in nets.items() if total < 0]
        took = [account for account, total in nets.items() if total > 0]
        if not gave or not took:
            return
        giver, taker = data.draw(st.sampled_from(gave)), data.draw(st.sampled_from(took))
        if amount is None:
            amount = min(-nets[giver], nets[taker])
        self.attempt(
            Draft(
                key=self.key(),
                kind=Kind.DEPOSIT_REVERSAL if original.kind == Kind.DEPOSIT else Kind.REVERSAL,
                legs=(Leg(taker, -amount), Leg(giver, amount)),
                reverses=self.model.ids[original.key],
            )
        )

    @rule(data=st.data())
    def reverse_what_is_not_there(self, data: st.DataObject) -> None:
        self.attempt(replace(self.draft(data), reverses=NOWHERE), never=True)

    @rule(data=st.data())
    def reverse_the_wrong_way_round(self, data: st.DataObject) -> None:
        """More of the same is no reversal."""
        original = self.replay(data)
        again = replace(original, key=self.key(), reverses=self.model.ids[original.key])
        self.attempt(again, never=any(net(original).values()))

    # --- upkeep and what always holds ---------------------------------------------------------

    @rule()
    def roll_up(self) -> None:
        # Nobody else writes, so whatever is there is settled.
        query("SELECT ledger_roll_up((SELECT coalesce(max(id), 0) FROM wallets_posting))")
        self.tally["roll-ups"] += 1

    @invariant()
    def the_audit_is_green(self) -> None:
        self.steps += 1
        # It reads everything: now and then is often enough.
        if self.steps % AUDIT_EVERY == 0:
            assert every_finding() == []

    @invariant()
    def every_balance_is_the_models(self) -> None:
        rows = query("SELECT id, asset_id, ledger_balance(id), version FROM wallets_account")
        assert {pk: int(balance) for pk, _, balance, _ in rows} == self.model.balances
        assert {pk: version for pk, _, _, version in rows} == self.model.versions
        sums: Counter[str] = Counter()
        for _, asset, balance, _ in rows:
            sums[asset] += int(balance)
        assert not any(sums.values())

    def teardown(self) -> None:
        try:
            assert every_finding() == []
            assert self.stored_transfers() == {
                key: (self.model.ids[key], *content(draft))
                for key, draft in self.model.posted.items()
            }
        finally:
            empty_the_ledger()

    def stored_transfers(self) -> dict[str, tuple]:
        rows = query(
            "SELECT t.key, t.id, t.kind, t.memo, t.reverses_id, "
            "array_agg(p.account_id ORDER BY p.id), array_agg(p.amount ORDER BY p.id) "
            "FROM wallets_transfer t JOIN wallets_posting p ON p.transfer_id = t.id GROUP BY t.id"
        )
        return {
            key: (*row, tuple(zip(accounts, map(int, amounts), strict=True)))
            for key, *row, accounts, amounts in rows
        }


def empty_the_ledger() -> None:
    # A replica fires no triggers, not even those that refuse this.
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        for table in ("posting", "transfer", "account"):
            cursor.execute(f"DELETE FROM wallets_{table}")


@pytest.mark.django_db(transaction=True)
def test_the_ledger_does_what_a_plain_model_of_it_does():
    Asset.objects.create(code="season", name="Season credits")
    # Nothing here crashes, so no commit has to wait for the disk.
    with connection.cursor() as cursor:
        cursor.execute("SET synchronous_commit = off")
    LedgerMachine.tally.clear()
    tally = LedgerMachine.tally
    while tally["operations"] < OPERATIONS:
        run_state_machine_as_test(
            LedgerMachine,
            settings=settings(
                max_examples=10,
                stateful_step_count=100,
                deadline=None,
                # Others each time: a run that repeated the last one would show nothing.
                derandomize=False,
                suppress_health_check=list(HealthCheck),
            ),
        )
    print("\n" + ", ".join(f"{number} {what}" for what, number in tally.most_common()))
    for outcome in ("insufficient_credits", "idempotency_conflict", "ledger_refusal", "accepted"):
        assert tally[outcome] >= OPERATIONS / 30
