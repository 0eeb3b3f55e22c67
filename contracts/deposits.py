"""Deposits in the database: stored, credited, taken back. Nothing here talks to a node."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import structlog
from django.db import DatabaseError, OperationalError, connection, transaction
from django.db.models import Exists, F, QuerySet
from django.db.models.functions import Greatest

from contracts import redemptions
from contracts.events import MovedMeanwhile, Seen
from contracts.models import Chain, Deposit, Token, Vault
from contracts.node import Trouble
from contracts.reader import Part, Point
from wallets import ledger
from wallets.accounts import wallet_for
from wallets.db import in_transaction
from wallets.errors import LedgerRefusal, Problem
from wallets.models import Account, Service, Transfer, Wallet
from wallets.services import paused_services

# Blocks are remembered this far back. Of what is older, the blocks of deposits and the first block
# of all are still known, which is enough to find where a deeper reorganisation begins.
BLOCKS_KEPT = 10_000
BATCH = 1_000
log = structlog.get_logger(__name__)


class LogsMissing(Trouble):
    """The vault made more deposits than the node told of; `since` is the block to look from.

    `stored` is the block of one that is known, if such a one was left out.
    """

    cause = "logs_missing"

    def __init__(
        self,
        vault: Vault,
        number: int | None,
        since: int,
        stored: Point | None = None,
    ) -> None:
        after = f"after number {number}" if number is not None else f"above block {since}"
        super().__init__(f"The node left out deposits of the vault {vault.address}, {after}.")
        self.since = since
        self.stored = stored


def batched(rows: Sequence[Seen]) -> Iterator[Sequence[Seen]]:
    """Rows in batches of a size that one statement takes well."""
    return (rows[at : at + BATCH] for at in range(0, len(rows), BATCH))


def on_chain(chain: Chain) -> QuerySet[Deposit]:
    """The deposits of a chain that have not fallen out of it."""
    return Deposit.objects.filter(vault__chain=chain).exclude(status=Deposit.Status.ORPHANED)


@in_transaction
def store_part(*, chain: Chain, part: Part) -> None:
    """Store the part of the chain that begins at the cursor, and move the cursor to its end.

    Raises MovedMeanwhile, LogsMissing.
    """
    _lock_cursor(chain)
    if part.below.number != chain.scanned_block:
        raise MovedMeanwhile("The cursor was moved while the chain was read.")
    _store(chain, part)
    last = part.last
    chain.blocks.update_or_create(
        number=last.number, defaults={"hash": last.hash, "timestamp": last.timestamp}
    )
    chain.blocks.filter(number__lt=last.number - BLOCKS_KEPT).delete()
    _move_cursor(chain, last.number, last.hash)


@in_transaction
def store_again(*, chain: Chain, part: Part) -> int:
    """Store what is missing of a part below the cursor; how many deposits that was.

    Raises MovedMeanwhile, LogsMissing.
    """
    _lock_cursor(chain)
    if part.last.number > chain.scanned_block:
        raise MovedMeanwhile("The chain was reorganised while it was read.")
    return _store(chain, part)


def _store(chain: Chain, part: Part) -> int:
    vaults = {vault.address: vault for vault in chain.vaults.all()}
    if vaults.keys() != part.vaults:
        raise MovedMeanwhile("Another vault was put on watch while the chain was read.")
    stored = on_chain(chain).filter(
        block_number__gt=part.below.number, block_number__lte=part.last.number
    )
    known = set(stored.values_list("vault__address", "block_number", "block_hash", "log_index"))
    seen = {(d.vault, d.block_number, d.block_hash, d.log_index): d for d in part.seen}
    for vault in vaults.values():
        _check_complete(chain, vault, part)
    if left_out := next(iter(known - seen.keys()), None):
        vault, number, block_hash, _ = left_out
        raise LogsMissing(vaults[vault], None, part.below.number, stored=Point(number, block_hash))
    fresh = [deposit for key, deposit in seen.items() if key not in known]
    tokens = {(t.vault_id, t.address): t for t in Token.objects.filter(vault__chain=chain)}
    wallets = _wallets(sorted({deposit.player for deposit in fresh}))
    for batch in batched(fresh):
        _insert(
            [
                _deposit(d, vaults[d.vault], tokens[vaults[d.vault].pk, d.token], wallets[d.player])
                for d in batch
            ]
        )
    return len(fresh)


def _lock_cursor(chain: Chain) -> None:
    """Lock the chain's row, if its cursor is still where the caller thinks it is."""
    now = Chain.objects.select_for_update(no_key=True).get(pk=chain.pk)
    if (now.scanned_block, now.scanned_hash) != (chain.scanned_block, chain.scanned_hash):
        raise MovedMeanwhile("The cursor was moved while the chain was read.")


def _move_cursor(chain: Chain, number: int, block_hash: str) -> None:
    Chain.objects.filter(pk=chain.pk).update(scanned_block=number, scanned_hash=block_hash)
    chain.scanned_block, chain.scanned_hash = number, block_hash


def _check_complete(chain: Chain, vault: Vault, part: Part) -> None:
    """Make sure that no deposit was left out: the vault numbers them from 1, without gaps.

    A node that answers from a block it does not have yet, or that lost some of its index, says "no
    events" where there are some.
    """
    before = on_chain(chain).filter(vault=vault, block_number__lte=part.below.number)
    known = before.order_by("-number").first()
    newest = known.number if known else 0
    numbers = [d.number for d in part.seen if d.vault == vault.address]
    expected = range(newest + 1, newest + 1 + len(numbers))
    count = part.counts.get(vault.address)
    if numbers != list(expected) or (count is not None and count != newest + len(numbers)):
        since = (known.block_number if known else vault.deployed_block) - 1
        raise LogsMissing(vault, newest, since)


def _wallets(addresses: Sequence[str]) -> dict[str, Wallet]:
    """The wallet of each address, made where there is none."""
    found = {wallet.address: wallet for wallet in Wallet.objects.filter(address__in=addresses)}
    return {a: found.get(a) or wallet_for(a) for a in addresses}


COLUMNS = {
    "vault_id": "bigint",
    "token_id": "bigint",
    "wallet_id": "bigint",
    "number": "numeric",
    "amount": "numeric",
    "credits": "numeric",
    "tx_hash": "text",
    "log_index": "int",
    "block_number": "bigint",
    "block_hash": "text",
    "status": "text",
}
# One statement for a batch: the ORM's would spend most of a catch-up's time on its parameters.
INSERT = f"""
    INSERT INTO contracts_deposit ({", ".join(COLUMNS)}, seen_at)
    SELECT *, statement_timestamp()
    FROM unnest({", ".join(f"%s::{kind}[]" for kind in COLUMNS.values())})
"""  # noqa: S608 - names of our own columns


def _insert(rows: Sequence[tuple[Any, ...]]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(INSERT, [list(column) for column in zip(*rows, strict=True)])


def _deposit(seen: Seen, vault: Vault, token: Token, wallet: Wallet) -> tuple[Any, ...]:
    """The row of a deposit, in the order of COLUMNS."""
    worth = seen.amount // token.credit_price
    status = Deposit.Status.PENDING if worth else Deposit.Status.WORTHLESS
    return (
        *(vault.pk, token.pk, wallet.pk, seen.number, seen.amount, worth),
        *(seen.tx_hash, seen.log_index, seen.block_number, seen.block_hash, status.value),
    )


@in_transaction
def rewind(*, chain: Chain, number: int, block_hash: str) -> None:
    """Take back every deposit above a block, and have the chain read again from there on."""
    _lock_cursor(chain)
    # Of the blocks between the newest that is left and the first that is known to have fallen out
    # nothing is known, but that no deposit was in them.
    blocks = chain.blocks.filter(number__gt=number).values_list("number", flat=True)
    deposits = on_chain(chain).filter(block_number__gt=number)
    fallen = blocks.union(deposits.values_list("block_number", flat=True))
    first = fallen.order_by("number").first()
    depth = 0 if first is None else chain.scanned_block - first + 1
    Chain.objects.filter(pk=chain.pk).update(
        reorgs=F("reorgs") + 1, deepest_reorg=Greatest("deepest_reorg", depth)
    )
    _take_back_above(chain, number)
    if number < chain.scanned_block:
        _move_cursor(chain, number, block_hash)


@in_transaction
def start_over(*, chain: Chain, genesis_hash: str) -> None:
    """Take another chain of the same id for the one on watch, and have it read from its start.

    The old chain's deposits are taken back like those of any reorganisation: what bought their
    credits is not in the vaults of this chain, and credits without coins behind them would be owed
    to players that nobody could pay.
    """
    _lock_cursor(chain)
    log.warning("another chain is accepted", chain=chain.pk, genesis_hash=genesis_hash)
    _take_back_above(chain, -1)
    Chain.objects.filter(pk=chain.pk).update(genesis_hash=genesis_hash, final_block=-1)
    chain.genesis_hash = genesis_hash
    _move_cursor(chain, 0, genesis_hash)


@in_transaction
def take_back_of(*, chain: Chain, block: Point) -> None:
    """Take back the deposits of a block that is not on the chain, and leave all others alone.

    A node that makes up the blocks of its events is not found out where they lie deep.
    """
    _lock_cursor(chain)
    _orphan(on_chain(chain).filter(block_number=block.number, block_hash=block.hash))


def _take_back_above(chain: Chain, number: int) -> None:
    redemptions.rewind(chain=chain, number=number)
    _orphan(on_chain(chain).filter(block_number__gt=number))
    chain.blocks.filter(number__gt=number).delete()


def _orphan(fallen: QuerySet[Deposit]) -> None:
    """Take back deposits that fell out of the chain, with their credits."""
    fallen = fallen.order_by("id")
    fallen = fallen.select_related("transfer").prefetch_related("transfer__postings")
    # Not all at once: a chain that started over takes everything back.
    while page := list(fallen.select_for_update(of=("self",), no_key=True)[:BATCH]):
        if credited := [deposit for deposit in page if deposit.transfer]:
            _take_back(credited)
        ids = [deposit.pk for deposit in page]
        Deposit.objects.filter(pk__in=ids).update(status=Deposit.Status.ORPHANED)


@in_transaction
def read_again(*, chain: Chain, number: int, block_hash: str) -> None:
    """Have the chain read again from a block on; what is stored stays, and is stored once."""
    _lock_cursor(chain)
    _move_cursor(chain, number, block_hash)


def _take_back(deposits: Sequence[Deposit]) -> None:
    """Reverse the credits of deposits, all at once, or one by one where the ledger refuses one."""
    try:
        with transaction.atomic():
            ledger.take_back([deposit.transfer for deposit in deposits])
    except LedgerRefusal as error:
        if len(deposits) > 1:
            for deposit in deposits:
                _take_back([deposit])
        else:
            # An operator has reversed it before. The watcher must go on for all others.
            log.error("deposit not taken back", deposit=deposits[0].pk, exc_info=error)
    else:
        for deposit in deposits:
            log.warning(
                "deposit taken back",
                deposit=deposit.pk,
                tx_hash=deposit.tx_hash,
                wallet=deposit.wallet_id,
                credits=str(deposit.credits),
            )


def confirmed(chain: Chain) -> QuerySet[Deposit]:
    """The deposits that count by the chain's policy and are to be credited: none in a pause."""
    paused = paused_services().filter(pk=Service.Name.DEPOSITS)
    return Deposit.objects.filter(
        ~Exists(paused),
        vault__chain=chain,
        status=Deposit.Status.PENDING,
        block_number__lte=chain.counting_block,
    )


def credit_confirmed(chain: Chain) -> int:
    """Mint the credits of each deposit that counts; how many there were.

    Batch by batch, or one by one where the ledger refuses one: that stays as it is, and holds up
    no other.
    """
    credited, after = 0, 0
    while ids := list(
        confirmed(chain).filter(pk__gt=after).order_by("id").values_list("pk", flat=True)[:BATCH]
    ):
        after = ids[-1]
        try:
            done = _credit(chain, ids)
        except OperationalError:
            raise  # the database itself is in trouble, not a deposit
        except (Problem, DatabaseError):
            done = [deposit for pk in ids for deposit in _credit_or_log(chain, pk)]
        if done:
            # One line, since in a catch-up one for each would take half as long as crediting it.
            log.info("deposits credited", chain=chain.pk, deposits=done)
        credited += len(done)
    return credited


def _credit_or_log(chain: Chain, deposit_id: int) -> list[int]:
    try:
        return _credit(chain, [deposit_id])
    except OperationalError:
        raise
    except (Problem, DatabaseError) as error:
        log.error("deposit not credited", deposit=deposit_id, exc_info=error)
        return []


CREDITED = """
    UPDATE contracts_deposit d
    SET status = 'credited', credited_at = statement_timestamp(), transfer_id = minted.transfer
    FROM unnest(%s::bigint[], %s::bigint[]) AS minted (deposit, transfer)
    WHERE d.id = minted.deposit
"""


@in_transaction
def _credit(chain: Chain, ids: Sequence[int]) -> list[int]:
    """Mint the credits of deposits, all or none, in the transaction that marks them credited.

    Returns the ids of those that were still pending.
    """
    pending = Deposit.objects.filter(pk__in=ids, status=Deposit.Status.PENDING).order_by("id")
    columns = ("pk", "tx_hash", "log_index", "wallet_id", "credits")
    deposits = list(pending.select_for_update(no_key=True).values_list(*columns))
    if not deposits:
        return []
    source = ledger.system_account(Account.Kind.VAULT).pk
    targets = _player_accounts({wallet for *_, wallet, _ in deposits})
    receipts = ledger.post(
        *(
            ledger.Draft(
                # The row is part of it: an event that fell out of the chain and came back, were it
                # in the same block, is another cause, and credited anew.
                key=f"deposit:{chain.pk}:{tx_hash}:{log_index}:{pk}",
                kind=Transfer.Kind.DEPOSIT,
                legs=[ledger.Leg(source, -worth), ledger.Leg(targets[wallet], worth)],
            )
            for pk, tx_hash, log_index, wallet, worth in deposits
        )
    )
    credited = [pk for pk, *_ in deposits]
    with connection.cursor() as cursor:
        cursor.execute(CREDITED, [credited, [receipt.transfer_id for receipt in receipts]])
    return credited


def _player_accounts(wallets: Collection[int]) -> dict[int, int]:
    """The account of free credits of each wallet."""
    found = dict(
        Account.objects.filter(
            kind=Account.Kind.AVAILABLE, asset=ledger.CREDITS, wallet__in=wallets
        ).values_list("wallet_id", "pk")
    )
    for missing in Wallet.objects.filter(pk__in=set(wallets) - found.keys()):
        found[missing.pk] = ledger.player_account(missing).pk
    return found
