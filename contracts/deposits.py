"""Deposits in the database: stored, credited, taken back. Nothing here talks to a node."""

from collections.abc import Collection, Mapping, Sequence

import structlog
from django.db import DatabaseError, OperationalError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from contracts.events import MovedMeanwhile, Seen
from contracts.models import Chain, Deposit, Token, Vault
from contracts.node import Header, Trouble
from wallets import ledger
from wallets.accounts import wallet_for
from wallets.db import in_transaction
from wallets.errors import LedgerRefusal, Problem
from wallets.models import Wallet

# Blocks are remembered this far back. Of what is older, the blocks of deposits and the first block
# of all are still known, which is enough to find where a deeper reorganisation begins.
BLOCKS_KEPT = 10_000
BATCH = 1_000
log = structlog.get_logger(__name__)


class LogsMissing(Trouble):
    """The vault made more deposits than the node told of; `since` is the block to look from."""

    def __init__(self, vault: Vault, known: Deposit | None) -> None:
        number = known.number if known else 0
        super().__init__(
            f"The node left out deposits of the vault {vault.address}, after number {number}."
        )
        self.since = (known.block_number if known else vault.deployed_block) - 1


def on_chain(chain: Chain) -> QuerySet[Deposit]:
    """The deposits of a chain that have not fallen out of it."""
    return Deposit.objects.filter(vault__chain=chain).exclude(status=Deposit.Status.ORPHANED)


@in_transaction
def store_range(
    *,
    chain: Chain,
    asked: Collection[str],
    seen: Sequence[Seen],
    last: Header,
    counts: Mapping[str, int],
) -> None:
    """Store what was seen from the cursor to a block, and move the cursor there.

    `asked` are the vaults that the node was asked about; `counts` says how many deposits each has
    had by that block, where that is known. Raises MovedMeanwhile, LogsMissing.
    """
    _lock_cursor(chain)
    vaults = {vault.address: vault for vault in chain.vaults.all()}
    if vaults.keys() != set(asked):
        raise MovedMeanwhile("Another vault was put on watch while the chain was read.")
    stored = on_chain(chain).filter(block_number__gt=chain.scanned_block)
    fresh = _not_in(stored.filter(block_number__lte=last.number), seen)
    for vault in vaults.values():
        _check_complete(chain, vault, seen, counts.get(vault.address))
    tokens = {(t.vault_id, t.address): t for t in Token.objects.filter(vault__chain=chain)}
    wallets = _wallets(sorted({deposit.player for deposit in fresh}))
    Deposit.objects.bulk_create(
        (
            _deposit(d, vaults[d.vault], tokens[vaults[d.vault].pk, d.token], wallets[d.player])
            for d in fresh
        ),
        batch_size=BATCH,
    )
    chain.blocks.update_or_create(
        number=last.number, defaults={"hash": last.hash, "timestamp": last.timestamp}
    )
    chain.blocks.filter(number__lt=last.number - BLOCKS_KEPT).delete()
    _move_cursor(chain, last.number, last.hash)


def _lock_cursor(chain: Chain) -> None:
    """Lock the chain's row, if its cursor is still where the caller thinks it is."""
    now = Chain.objects.select_for_update(no_key=True).get(pk=chain.pk)
    if (now.scanned_block, now.scanned_hash) != (chain.scanned_block, chain.scanned_hash):
        raise MovedMeanwhile("The cursor was moved while the chain was read.")


def _move_cursor(chain: Chain, number: int, block_hash: str) -> None:
    Chain.objects.filter(pk=chain.pk).update(scanned_block=number, scanned_hash=block_hash)
    chain.scanned_block, chain.scanned_hash = number, block_hash


def _not_in(stored: QuerySet[Deposit], seen: Sequence[Seen]) -> list[Seen]:
    """Those seen that are not stored yet; a part of the chain may well be read twice."""
    known = set(stored.values_list("vault__address", "block_hash", "log_index"))
    return [d for d in seen if (d.vault, d.block_hash, d.log_index) not in known]


def _check_complete(chain: Chain, vault: Vault, seen: Sequence[Seen], count: int | None) -> None:
    """Make sure that no deposit was left out: the vault numbers them from 1, without gaps.

    A node that answers from a block it does not have yet, or that lost some of its index, says "no
    events" where there are some.
    """
    before = on_chain(chain).filter(vault=vault, block_number__lte=chain.scanned_block)
    known = before.order_by("-number").first()
    newest = known.number if known else 0
    numbers = [d.number for d in seen if d.vault == vault.address]
    expected = range(newest + 1, newest + 1 + len(numbers))
    if numbers != list(expected) or (count is not None and count != newest + len(numbers)):
        raise LogsMissing(vault, known)


def _wallets(addresses: Sequence[str]) -> dict[str, Wallet]:
    """The wallet of each address, made where there is none."""
    found = {wallet.address: wallet for wallet in Wallet.objects.filter(address__in=addresses)}
    return {a: found.get(a) or wallet_for(a) for a in addresses}


def _deposit(seen: Seen, vault: Vault, token: Token, wallet: Wallet) -> Deposit:
    worth = seen.amount // token.credit_price
    return Deposit(
        vault=vault,
        token=token,
        wallet=wallet,
        number=seen.number,
        amount=seen.amount,
        credits=worth,
        tx_hash=seen.tx_hash,
        log_index=seen.log_index,
        block_number=seen.block_number,
        block_hash=seen.block_hash,
        status=Deposit.Status.PENDING if worth else Deposit.Status.WORTHLESS,
    )


@in_transaction
def rewind(*, chain: Chain, number: int, block_hash: str) -> None:
    """Take back every deposit above a block, and have the chain read again from there on."""
    _lock_cursor(chain)
    fallen = on_chain(chain).filter(block_number__gt=number).select_related("transfer")
    for deposit in fallen.select_for_update(of=("self",), no_key=True).order_by("id"):
        if deposit.transfer:
            _take_back(deposit)
        deposit.status = Deposit.Status.ORPHANED
        deposit.save(update_fields=["status"])
    chain.blocks.filter(number__gt=number).delete()
    if number < chain.scanned_block:
        _move_cursor(chain, number, block_hash)


@in_transaction
def read_again(*, chain: Chain, number: int, block_hash: str) -> None:
    """Have the chain read again from a block on; what is stored stays, and is stored once."""
    _lock_cursor(chain)
    _move_cursor(chain, number, block_hash)


def _take_back(deposit: Deposit) -> None:
    try:
        with transaction.atomic():
            ledger.take_back(transfer=deposit.transfer, key=f"{deposit.transfer.key}:reversed")
    except LedgerRefusal as error:
        # An operator has reversed it before. The watcher must go on for all others.
        log.error("deposit not taken back", deposit=deposit.pk, exc_info=error)
    else:
        log.warning("deposit taken back", deposit=deposit.pk, credits=str(deposit.credits))


def confirmed(chain: Chain) -> QuerySet[Deposit]:
    """The deposits that have their confirmations and no credits yet.

    Only blocks up to the cursor count: those were read, and are known by their hashes.
    """
    return Deposit.objects.filter(
        vault__chain=chain,
        status=Deposit.Status.PENDING,
        block_number__lte=chain.scanned_block - chain.confirmations + 1,
    )


def credit_confirmed(chain: Chain) -> int:
    """Mint the credits of each deposit that has its confirmations; how many there were.

    One that the ledger refuses stays as it is, and holds up no other.
    """
    return sum(
        _credit_or_log(pk) for pk in confirmed(chain).order_by("id").values_list("pk", flat=True)
    )


def _credit_or_log(deposit_id: int) -> bool:
    try:
        return _credit(deposit_id)
    except OperationalError:
        raise  # the database itself is in trouble, not this deposit
    except (Problem, DatabaseError) as error:
        log.error("deposit not credited", deposit=deposit_id, exc_info=error)
        return False


@in_transaction
def _credit(deposit_id: int) -> bool:
    """Mint a deposit's credits, in the transaction that marks it credited."""
    deposit = Deposit.objects.select_for_update(no_key=True).get(pk=deposit_id)
    if deposit.status != Deposit.Status.PENDING:
        return False
    receipt = ledger.mint(wallet=deposit.wallet, credits_=deposit.credits, key=_cause(deposit))
    deposit.transfer_id = receipt.transfer_id
    deposit.status = Deposit.Status.CREDITED
    deposit.credited_at = timezone.now()
    deposit.save(update_fields=["transfer", "status", "credited_at"])
    log.info("deposit credited", deposit=deposit.pk, credits=str(deposit.credits))
    return True


def _cause(deposit: Deposit) -> str:
    """The ledger's key of a deposit. The row is part of it: an event that fell out of the chain and
    came back, were it in the same block, is another cause, and credited anew."""
    return f"deposit:{deposit.vault.chain_id}:{deposit.tx_hash}:{deposit.log_index}:{deposit.pk}"
