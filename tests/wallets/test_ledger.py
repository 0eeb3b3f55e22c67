"""The ledger's calls: what they do, and what they refuse."""

import pytest
from django.db import connection, transaction

from tests.wallets.ledger_helpers import (
    all_balances,
    available,
    ledger_rows,
    new_escrow,
    new_wallet,
    nothing_changes,
)
from wallets import ledger
from wallets.errors import IdempotencyConflict, InsufficientCredits, LedgerRefusal
from wallets.ledger import Draft, Leg
from wallets.models import Account, Asset, Posting, Transfer

pytestmark = pytest.mark.django_db(transaction=True)

STAKE = Transfer.Kind.STAKE


def stake(wallet, escrow, amount, key):
    return ledger.move(
        kind=STAKE, key=key, source=ledger.player_account(wallet), target=escrow, amount=amount
    )


def test_a_mint_gives_the_player_what_the_vault_account_gives():
    wallet = new_wallet(100)
    assert available(wallet) == 100
    assert ledger.balance(ledger.system_account(Account.Kind.VAULT)) == -100


def test_the_same_transfer_again_returns_the_first_and_moves_nothing():
    wallet, escrow = new_wallet(100), new_escrow()
    first = stake(wallet, escrow, 30, "stake:1")
    rows = ledger_rows()
    again = stake(wallet, escrow, 30, "stake:1")
    assert (first.replayed, again.replayed) == (False, True)
    assert again.transfer_id == first.transfer_id
    assert ledger_rows() == rows


@pytest.mark.parametrize(
    "change",
    [
        {"kind": Transfer.Kind.REFUND},
        {"memo": "another"},
        {"amount": 31},
        {"swap": True},
    ],
    ids=str,
)
def test_the_same_key_with_other_content_is_an_error_of_its_own(change):
    wallet, escrow = new_wallet(100), new_escrow()
    account = ledger.player_account(wallet).pk

    def draft(kind=STAKE, memo="", amount=30, swap=False):
        legs = [Leg(account, -amount), Leg(escrow.pk, amount)]
        return Draft(key="k", kind=kind, memo=memo, legs=legs[::-1] if swap else legs)

    ledger.post(draft())
    with pytest.raises(IdempotencyConflict):
        ledger.post(draft(**change))
    nothing_changes(lambda: ledger.post(draft(**change)))


def test_no_player_can_give_more_than_there_is():
    wallet, escrow = new_wallet(100), new_escrow()
    with pytest.raises(InsufficientCredits):
        stake(wallet, escrow, 101, "stake:1")
    nothing_changes(lambda: stake(wallet, escrow, 101, "stake:1"))
    stake(wallet, escrow, 100, "stake:1")
    assert available(wallet) == 0


def test_no_escrow_can_give_more_than_there_is():
    wallet, escrow = new_wallet(100), new_escrow()
    stake(wallet, escrow, 10, "stake:1")
    with pytest.raises(InsufficientCredits):
        ledger.move(
            kind=Transfer.Kind.PAYOUT,
            key="payout:1",
            source=escrow,
            target=ledger.player_account(wallet),
            amount=11,
        )


@pytest.mark.parametrize("amount", [0, -1])
def test_only_credits_above_zero_can_be_moved(amount):
    wallet, escrow = new_wallet(100), new_escrow()
    with pytest.raises(LedgerRefusal):
        stake(wallet, escrow, amount, "stake:1")


def test_a_transfer_that_does_not_sum_to_zero_is_refused():
    wallet, escrow = new_wallet(100), new_escrow()
    account = ledger.player_account(wallet).pk
    draft = Draft(key="k", kind=STAKE, legs=[Leg(account, -5), Leg(escrow.pk, 6)])
    with pytest.raises(LedgerRefusal):
        ledger.post(draft)
    nothing_changes(lambda: ledger.post(draft))


@pytest.mark.parametrize(
    "legs", [[], [Leg(10**12, -5), Leg(10**12 + 1, 5)]], ids=["none", "unknown"]
)
def test_a_transfer_without_legs_or_with_unknown_accounts_is_refused(legs):
    with pytest.raises(LedgerRefusal):
        ledger.post(Draft(key="k", kind=STAKE, legs=legs))
    assert not Transfer.objects.filter(key="k").exists()


def test_of_many_transfers_all_are_posted_or_none():
    rich, poor, escrow = new_wallet(100), new_wallet(5), new_escrow()

    def draft(key, wallet, amount):
        account = ledger.player_account(wallet).pk
        return Draft(key=key, kind=STAKE, legs=[Leg(account, -amount), Leg(escrow.pk, amount)])

    bad = [draft("1", rich, 10), draft("2", poor, 6), draft("3", rich, 10)]
    with pytest.raises(InsufficientCredits):
        ledger.post(*bad)
    nothing_changes(lambda: ledger.post(*bad))
    receipts = ledger.post(draft("1", rich, 10), draft("2", poor, 5), draft("3", rich, 90))
    assert [receipt.replayed for receipt in receipts] == [False, False, False]
    assert (available(rich), available(poor), ledger.balance(escrow)) == (0, 0, 105)


def test_what_is_read_of_accounts_does_not_grow_with_legs_times_accounts():
    """A plan that joins whole tables for each leg took 40 s for 1,000 transfers of a new ledger."""
    wallet, escrow, others = new_wallet(100), new_escrow(), 2_000
    Account.objects.bulk_create(
        Account(asset_id=escrow.asset_id, kind=escrow.kind, key=f"match:other-{n}")
        for n in range(others)
    )
    legs = [Leg(ledger.player_account(wallet).pk, -1), Leg(escrow.pk, 1)]

    def rows_read(cursor):
        cursor.execute(
            "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables "
            "WHERE relname = 'wallets_account'"
        )
        return cursor.fetchone()[0]

    with connection.cursor() as cursor:
        with transaction.atomic():
            # As the planner chooses by itself where it expects thousands of legs a transfer.
            cursor.execute("SET LOCAL enable_nestloop = off")
            cursor.execute("DISCARD PLANS")
            before = rows_read(cursor)
            ledger.post(*(Draft(key=f"stake:{n}", kind=STAKE, legs=legs) for n in range(50)))
            read = rows_read(cursor) - before
        cursor.execute("DISCARD PLANS")
    assert available(wallet) == 50
    assert read < 10 * others


def test_many_transfers_of_which_some_came_before_post_the_others():
    wallet, escrow = new_wallet(100), new_escrow()
    account = ledger.player_account(wallet).pk
    drafts = [
        Draft(key=f"k{n}", kind=STAKE, legs=[Leg(account, -n), Leg(escrow.pk, n)])
        for n in range(1, 6)
    ]
    ledger.post(drafts[1], drafts[3])
    receipts = ledger.post(*drafts)
    assert [receipt.replayed for receipt in receipts] == [False, True, False, True, False]
    assert available(wallet) == 100 - 15


def test_many_transfers_may_pass_credits_on_from_one_to_the_next():
    first, second, escrow = new_wallet(7), new_wallet(), new_escrow()
    a, b = ledger.player_account(first).pk, ledger.player_account(second).pk
    ledger.post(
        Draft(key="1", kind=STAKE, legs=[Leg(a, -7), Leg(b, 7)]),
        Draft(key="2", kind=STAKE, legs=[Leg(b, -7), Leg(escrow.pk, 7)]),
    )
    assert (available(first), available(second), ledger.balance(escrow)) == (0, 0, 7)


def test_a_transfer_is_in_one_asset_or_sums_to_zero_in_each():
    Asset.objects.create(code="season", name="Season credits")
    wallet = new_wallet(100)
    credits_, season = ledger.player_account(wallet), ledger.player_account(wallet, asset="season")
    mixed = Draft(key="k", kind=STAKE, legs=[Leg(credits_.pk, -5), Leg(season.pk, 5)])
    with pytest.raises(LedgerRefusal):
        ledger.post(mixed)
    house = ledger.system_account(Account.Kind.HOUSE, asset="season")
    receipt = ledger.post(Draft(key="s", kind=STAKE, legs=[Leg(house.pk, -5), Leg(season.pk, 5)]))
    assert receipt[0].transfer_id
    assert (available(wallet), ledger.balance(season)) == (100, 5)


def test_amounts_of_78_digits_are_exact():
    huge = 2**256 - 1
    wallet = new_wallet(huge)
    assert available(wallet) == huge
    escrow = new_escrow()
    stake(wallet, escrow, huge - 1, "stake:1")
    assert (available(wallet), ledger.balance(escrow)) == (1, huge - 1)


def test_each_posting_of_a_kept_account_says_what_was_there_before_and_after():
    wallet, escrow = new_wallet(100), new_escrow()
    stake(wallet, escrow, 30, "stake:1")
    account = ledger.player_account(wallet)
    history = list(account.postings.order_by("version"))
    assert [(p.version, p.previous_balance, p.amount, p.balance) for p in history] == [
        (1, 0, 100, 100),
        (2, 100, -30, 70),
    ]


def test_a_system_account_keeps_no_balance_of_its_own_until_it_is_rolled_up():
    new_wallet(100)
    vault = ledger.system_account(Account.Kind.VAULT)
    assert (vault.balance, vault.version) == (0, 0)
    assert vault.postings.get().version is None
    newest = Posting.objects.latest("id").pk
    with connection.cursor() as cursor:
        cursor.execute("SELECT ledger_roll_up(%s)", [newest])
        cursor.execute("SELECT ledger_roll_up(%s)", [newest - 1])
    vault.refresh_from_db()
    assert vault.balance == -100
    new_wallet(11)
    assert ledger.balance(vault) == -111


def test_a_reversal_is_the_mirror_image_and_can_be_had_once():
    wallet, escrow = new_wallet(100), new_escrow()
    receipt = stake(wallet, escrow, 30, "stake:1")
    original = Transfer.objects.get(pk=receipt.transfer_id)
    ledger.reverse(transfer=original, key="reversal:1", memo="a mistake")
    assert (available(wallet), ledger.balance(escrow)) == (100, 0)
    assert ledger.reverse(transfer=original, key="reversal:1", memo="a mistake").replayed
    stake(wallet, escrow, 30, "stake:2")
    with pytest.raises(LedgerRefusal):
        ledger.reverse(transfer=original, key="reversal:2")
    nothing_changes(lambda: ledger.reverse(transfer=original, key="reversal:2"))


def test_partial_reversals_together_never_exceed_the_original():
    wallet, escrow = new_wallet(100), new_escrow()
    original = stake(wallet, escrow, 30, "stake:1").transfer_id
    account = ledger.player_account(wallet).pk

    def part(key, amount):
        legs = [Leg(account, amount), Leg(escrow.pk, -amount)]
        kind = Transfer.Kind.REVERSAL
        return ledger.post(Draft(key=key, kind=kind, legs=legs, reverses=original))

    part("r1", 20)
    stake(wallet, escrow, 50, "stake:2")
    for key, amount in (("r2", 11), ("r3", -1)):
        with pytest.raises(LedgerRefusal):
            part(key, amount)
    part("r4", 10)
    assert available(wallet) == 50


def test_only_a_deposit_that_was_taken_back_leaves_a_player_below_zero_and_then_stuck():
    wallet, escrow = new_wallet(100), new_escrow()
    deposit = Transfer.objects.get(kind=Transfer.Kind.DEPOSIT)
    stake(wallet, escrow, 80, "stake:1")
    ledger.take_back([deposit])
    assert available(wallet) == -80
    with pytest.raises(InsufficientCredits):
        stake(wallet, escrow, 1, "stake:2")
    ledger.mint(wallet=wallet, credits_=100, key="deposit:2")
    stake(wallet, escrow, 20, "stake:3")
    assert available(wallet) == 0


def test_an_error_inside_a_transaction_takes_the_whole_transaction_with_it():
    wallet, escrow = new_wallet(100), new_escrow()

    def both():
        with transaction.atomic():
            stake(wallet, escrow, 60, "stake:1")
            stake(wallet, escrow, 60, "stake:2")

    nothing_changes(both)


def test_opening_an_account_again_returns_the_first():
    assert new_wallet().accounts.count() == 1
    one = ledger.open_account(kind=Account.Kind.ESCROW, key="match:1")
    assert ledger.open_account(kind=Account.Kind.ESCROW, key="match:1") == one


def test_everything_in_the_ledger_sums_to_zero():
    wallet, escrow = new_wallet(100), new_escrow()
    stake(wallet, escrow, 30, "stake:1")
    assert sum(all_balances().values()) == 0


@pytest.mark.parametrize("reverses", ["nothing", "a refund"])
def test_nothing_but_a_deposit_can_be_taken_back_into_debt(reverses):
    wallet, escrow = new_wallet(100), new_escrow()
    stake(wallet, escrow, 60, "stake:1")
    ledger.move(
        kind=Transfer.Kind.REFUND,
        key="refund",
        source=escrow,
        target=ledger.player_account(wallet),
        amount=60,
    )
    stake(wallet, escrow, 100, "stake:2")
    player = ledger.player_account(wallet).pk
    draft = Draft(
        key="x",
        kind=Transfer.Kind.DEPOSIT_REVERSAL,
        legs=[Leg(player, -60), Leg(escrow.pk, 60)],
        reverses=Transfer.objects.get(key="refund").pk if reverses == "a refund" else None,
    )
    with pytest.raises(InsufficientCredits):
        ledger.post(draft)
    assert available(wallet) == 0


@pytest.mark.parametrize("amount", [0, 10**78])
def test_a_leg_that_moves_nothing_or_too_much_to_be_written_is_refused(amount):
    wallet, escrow = new_wallet(100), new_escrow()
    account = ledger.player_account(wallet).pk
    with pytest.raises(LedgerRefusal):
        ledger.post(
            Draft(key="x", kind=STAKE, legs=[Leg(account, -amount), Leg(escrow.pk, amount)])
        )
