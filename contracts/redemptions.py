"""Redemptions: what the chain says became of the vouchers.

The watcher calls `apply_range` for each range of blocks before it moves its cursor past it,
`rewind` in the transaction that takes back what fell out of the chain, and `settle` after each
scan. `give_back_expired` is the way back for vouchers that nobody redeemed.
"""

from collections.abc import Iterable

import structlog
from django.db import DatabaseError, OperationalError
from django.db.models import QuerySet
from web3 import Web3
from web3.exceptions import Web3Exception

from contracts.events import MovedMeanwhile
from contracts.models import Chain, Redemption, Vault, Withdrawal
from contracts.node import Header, NodeFailed, header, reason
from contracts.vouchers import ask_any_node, check_has, view_uint
from contracts.withdrawal_events import FRESH_BLOCKS, Gone, check_blocks, read_withdrawn
from contracts.withdrawals import give_back, locked, move, pending_account
from wallets import ledger
from wallets.accounts import freeze_address
from wallets.db import in_transaction
from wallets.errors import Conflict, Forbidden, NotFound, Problem
from wallets.models import Account, Transfer, Wallet

Status = Withdrawal.Status
BATCH = 500
log = structlog.get_logger(__name__)


class NothingToExplain(Conflict):
    """The redemption is as it should be, or an operator has explained it."""

    code, title = "nothing_to_explain", "There is nothing to explain"


def on_chain(chain: Chain) -> QuerySet[Redemption]:
    """The redemptions of a chain that have not fallen out of it."""
    return Redemption.objects.filter(vault__chain=chain).exclude(status=Redemption.Status.ORPHANED)


def apply_range(*, chain: Chain, node: Web3, first: int, last: Header) -> None:
    """Read and store what left the vaults in a range of blocks, up to one that is known by hash.

    May be called for the same range again, above or below the cursor. Raises Trouble.
    """
    vaults = {vault.address: vault for vault in chain.vaults.all()}
    gone = read_withdrawn(node, vaults.keys(), first, last.number)
    check_blocks(node, gone, above=chain.head_block - FRESH_BLOCKS)
    # Asked after the events were: so they lie on the chain of that block, and on no other.
    if header(node, last.number).hash != last.hash:
        raise MovedMeanwhile("The chain was reorganised while it was read.")
    stored = on_chain(chain).filter(block_number__gte=first, block_number__lte=last.number)
    known = {_place(r): r for r in stored.select_related("vault")}
    fallen = [r for place, r in known.items() if place not in {_place(e) for e in gone}]
    for redemption in fallen:
        if header(node, redemption.block_number).hash == redemption.block_hash:
            raise NodeFailed("The node left out a redemption that was read before.")
    if fallen or any(_place(event) not in known for event in gone):
        _store(chain, vaults, gone, fallen)


def _place(event: Gone | Redemption) -> tuple[str, str, int]:
    """Where on the chain an event is."""
    return str(event.vault), event.block_hash, event.log_index


@in_transaction
def _store(
    chain: Chain, vaults: dict[str, Vault], gone: list[Gone], fallen: Iterable[Redemption] = ()
) -> None:
    """Store events, and take back those of a scan that came to nothing on another fork."""
    now = Chain.objects.select_for_update(no_key=True).get(pk=chain.pk)
    if (now.scanned_block, now.scanned_hash) != (chain.scanned_block, chain.scanned_hash):
        raise MovedMeanwhile("The cursor was moved while the chain was read.")
    for redemption in fallen:
        _take_back(redemption)
    vouchers = [event.voucher for event in gone]
    stored = on_chain(chain).filter(voucher__in=vouchers).select_related("vault")
    known = {_place(redemption) for redemption in stored}
    for event in gone:
        if _place(event) not in known:
            _see(vaults[event.vault], event)


def _see(vault: Vault, event: Gone) -> None:
    """Store an event, and move the withdrawal whose voucher it is.

    Without a reason in the books, freeze whom it paid.
    """
    found = Withdrawal.objects.filter(voucher=event.voucher, token__vault=vault).first()
    withdrawal = locked(found.pk) if found else None
    trouble = _trouble(withdrawal, event)
    redemption = Redemption.objects.create(
        vault=vault, withdrawal=withdrawal, trouble=trouble, **_of_row(event)
    )
    if trouble:
        # It must never pass in silence: coins are gone, and the books don't say why. The player may
        # have the credits still, and must not stake or withdraw them before somebody has looked.
        freeze_address(event.player)
        log.error(
            "redemption without a reason: player frozen",
            redemption=redemption.pk,
            player=event.player,
            trouble=trouble,
            tx_hash=event.tx_hash,
        )
    elif withdrawal:
        move(withdrawal, Status.REDEEMED)


def _of_row(event: Gone) -> dict[str, str | int]:
    return {name: value for name, value in event._asdict().items() if name != "vault"}


def _trouble(withdrawal: Withdrawal | None, event: Gone) -> str:
    """Why an event should not have been; empty if all is well."""
    if withdrawal is None:
        return "No withdrawal has this voucher."
    told = (event.player, event.token, event.amount)
    if told != (withdrawal.wallet.address, withdrawal.token.address, withdrawal.amount):
        return "The voucher was over something else."
    if Status.REDEEMED not in Withdrawal.MOVES[withdrawal.status]:
        return f"The withdrawal was {withdrawal.get_status_display()}."
    return ""


@in_transaction
def rewind(*, chain: Chain, number: int) -> None:
    """Take back every redemption above a block, in the transaction that rewinds the chain."""
    fallen = on_chain(chain).filter(block_number__gt=number).order_by("id")
    while page := list(fallen[:BATCH]):
        for redemption in page:
            _take_back(redemption)


def _take_back(redemption: Redemption) -> None:
    """Undo what a redemption did that fell out of the chain: its voucher is good again."""
    log.warning("redemption taken back", redemption=redemption.pk)
    if redemption.withdrawal_id and not redemption.trouble:
        withdrawal = locked(redemption.withdrawal_id)
        # Read again under the lock: it may have been closed, or have been taken back.
        redemption.refresh_from_db()
        if redemption.status == Redemption.Status.ORPHANED:
            return
        if redemption.transfer:
            ledger.reverse(transfer=redemption.transfer, key=f"{redemption.transfer.key}:reversed")
        move(withdrawal, Status.SIGNED if withdrawal.signature else Status.APPROVED)
    redemption.status = Redemption.Status.ORPHANED
    redemption.save(update_fields=["status"])


def settle(*, chain: Chain) -> str:
    """Close each withdrawal whose redemption counts by the chain's policy.

    Returns what an operator has to look into: that something left a vault without a reason, as long
    as nobody has explained it. Empty if all is well.
    """
    for pk in _counting(chain).order_by("id").values_list("pk", flat=True):
        _pay_or_log(pk, chain.pk)
    unexplained = on_chain(chain).exclude(trouble="").filter(explanation="").count()
    return f"{unexplained} redemptions have no reason in the books." if unexplained else ""


def _counting(chain: Chain) -> QuerySet[Redemption]:
    return Redemption.objects.filter(
        vault__chain=chain,
        status=Redemption.Status.PENDING,
        trouble="",
        block_number__lte=chain.counting_block,
    )


def _pay_or_log(redemption_id: int, chain_id: int) -> bool:
    try:
        return _pay(redemption_id, chain_id)
    except OperationalError:
        raise  # the database itself is in trouble, not this redemption
    except (Problem, DatabaseError) as error:
        log.error("withdrawal not closed", redemption=redemption_id, exc_info=error)
        return False


@in_transaction
def _pay(redemption_id: int, chain_id: int) -> bool:
    """Move a withdrawal's credits out of the books, in the transaction that marks it paid."""
    withdrawal = locked(Redemption.objects.get(pk=redemption_id).withdrawal_id)
    # Read again under the lock: it may have been closed, or have fallen out of the chain.
    chain = Chain.objects.get(pk=chain_id)
    redemption = _counting(chain).filter(pk=redemption_id).first()
    if redemption is None:
        return False
    move(withdrawal, Status.PAID)
    receipt = ledger.move(
        kind=Transfer.Kind.WITHDRAWAL_PAID,
        key=f"withdrawal:{withdrawal.pk}:paid:{redemption.pk}",
        source=pending_account(withdrawal),
        target=ledger.system_account(Account.Kind.VAULT),
        amount=withdrawal.credits,
    )
    redemption.transfer_id = receipt.transfer_id
    redemption.status = Redemption.Status.CONFIRMED
    redemption.save(update_fields=["transfer", "status"])
    return True


def give_back_expired(chain: Chain) -> int:
    """Give back the credits of vouchers that nobody can redeem any more; how many there were.

    Time never runs backwards along a chain: if a block that counts has a time past the deadline and
    a voucher is unused in it, then no block before has redeemed it and none after can.
    """
    newest = chain.blocks.order_by("-number").first()
    if newest is None:
        return 0
    signed = Withdrawal.objects.filter(status=Status.SIGNED, token__vault__chain=chain)
    passed = signed.filter(deadline__lt=int(newest.timestamp.timestamp()))
    due = list(passed.select_related("token__vault").order_by("id")[:BATCH])
    if not due:
        return 0
    try:
        unused = ask_any_node(chain, lambda node: _unused(node, chain, due))
    except Web3Exception as error:
        log.warning("expired vouchers not looked at", chain=chain.pk, trouble=reason(error))
        return 0
    return sum(_give_back(withdrawal.pk) for withdrawal in unused)


def _unused(node: Web3, chain: Chain, due: Iterable[Withdrawal]) -> list[Withdrawal]:
    """Those that expired unused by the newest block that counts. Raises Trouble."""
    check_has(node, chain)
    block = header(node, max(chain.counting_block, 0))
    unused = []
    for withdrawal in due:
        if withdrawal.deadline >= block.timestamp.timestamp():
            continue
        vault = withdrawal.token.vault
        voucher, at = withdrawal.voucher, hex(block.number)
        if view_uint(node, vault.address, "isUsed(uint256)", voucher, block=at):
            _find_missed(node, chain, withdrawal, block)
        else:
            unused.append(withdrawal)
    if header(node, block.number).hash != block.hash:
        raise MovedMeanwhile("The chain was reorganised while it was read.")
    return unused


def _find_missed(node: Web3, chain: Chain, withdrawal: Withdrawal, upto: Header) -> None:
    """Store a redemption that a node left out when its blocks were read. Raises Trouble."""
    log.error("a redemption was missed", withdrawal=withdrawal.pk)
    vault = withdrawal.token.vault
    for first in range(withdrawal.signed_block, upto.number + 1, chain.block_range):
        last = min(upto.number, first + chain.block_range - 1)
        gone = read_withdrawn(node, [vault.address], first, last, voucher=withdrawal.voucher)
        if gone:
            check_blocks(node, gone, above=0)
            _store(chain, {vault.address: vault}, gone)
            return


@in_transaction
def _give_back(withdrawal_id: int) -> bool:
    withdrawal = locked(withdrawal_id)
    if withdrawal.status != Status.SIGNED:
        return False
    give_back(withdrawal, Status.RETURNED)
    return True


@in_transaction
def explain_redemption(*, operator: Wallet, redemption_id: int, explanation: str) -> Redemption:
    """Write down why something left a vault that should not have; it is no trouble from then on.

    Raises Forbidden without the permission, NotFound, NothingToExplain.
    """
    if not operator.has_perm("contracts.explain_redemption"):
        raise Forbidden
    redemption = (
        Redemption.objects.select_for_update(no_key=True, of=("self",))
        .filter(pk=redemption_id)
        .first()
    )
    if redemption is None:
        raise NotFound
    if not redemption.trouble or redemption.explanation or not explanation.strip():
        raise NothingToExplain
    redemption.explanation = explanation.strip()
    redemption.explained_by = operator
    redemption.save(update_fields=["explanation", "explained_by"])
    return redemption
