"""Credits that operators give or take by hand: one proposes with a reason, another approves."""

from django.utils import timezone

from wallets import ledger
from wallets.db import in_transaction, lock_until_commit
from wallets.errors import Conflict, Forbidden, NotFound, Problem
from wallets.ledger import Draft, Leg
from wallets.models import Account, Adjustment, Transfer, Wallet

# Credits; more is a slip of the hand.
MAX_AMOUNT = 10**12


class AlreadyDecided(Conflict):
    """Another operator was faster, or decided otherwise."""

    code, title = "already_decided", "This adjustment has been decided already"


class InvalidAdjustment(Problem):
    """No amount, or far too much; no reason, or no player."""

    code, title = "invalid_adjustment", "An adjustment needs a player, an amount and a reason"


@in_transaction
def propose_adjustment(
    *, operator: Wallet, wallet: Wallet, amount: int, reason: str, asset: str = ledger.CREDITS
) -> Adjustment:
    """Propose to give credits to a player (or, below zero, to take some).

    What the operator has proposed already, and nobody has decided, is not proposed twice.
    Raises Forbidden without the permission, InvalidAdjustment.
    """
    _require(operator, "wallets.propose_adjustment")
    if not (0 < abs(amount) <= MAX_AMOUNT and reason.strip() and wallet.address):
        raise InvalidAdjustment
    lock_until_commit(f"propose an adjustment of wallet {wallet.pk}")
    adjustment, _ = Adjustment.objects.get_or_create(
        asset_id=asset,
        wallet=wallet,
        amount=amount,
        reason=reason.strip(),
        proposed_by=operator,
        status=Adjustment.Status.PROPOSED,
    )
    return adjustment


@in_transaction
def approve_adjustment(*, operator: Wallet, adjustment_id: int) -> Adjustment:
    """Carry out an adjustment that another operator has proposed; once, however often it is asked.

    Raises Forbidden without the permission or to the one who proposed it, NotFound, AlreadyDecided,
    and InsufficientCredits if there is less to take than asked.
    """
    adjustment = _undecided(operator, adjustment_id, Adjustment.Status.APPROVED)
    if adjustment.proposed_by_id == operator.pk:
        raise Forbidden("A second operator has to approve it.")
    if adjustment.status == Adjustment.Status.APPROVED:
        return adjustment
    player = ledger.player_account(adjustment.wallet, asset=adjustment.asset_id)
    house = ledger.system_account(Account.Kind.HOUSE, asset=adjustment.asset_id)
    (receipt,) = ledger.post(
        Draft(
            key=f"adjustment:{adjustment.pk}",
            kind=Transfer.Kind.ADJUSTMENT,
            legs=[Leg(house.pk, -adjustment.amount), Leg(player.pk, adjustment.amount)],
            memo=adjustment.reason,
        )
    )
    adjustment.transfer_id = receipt.transfer_id
    return _decide(adjustment, operator, Adjustment.Status.APPROVED)


@in_transaction
def reject_adjustment(*, operator: Wallet, adjustment_id: int) -> Adjustment:
    """Turn an adjustment down; so may its proposer. Raises Forbidden, NotFound, AlreadyDecided."""
    adjustment = _undecided(operator, adjustment_id, Adjustment.Status.REJECTED)
    if adjustment.status == Adjustment.Status.REJECTED:
        return adjustment
    return _decide(adjustment, operator, Adjustment.Status.REJECTED)


def _require(operator: Wallet, permission: str) -> None:
    if not operator.has_perm(permission):
        raise Forbidden


def _undecided(operator: Wallet, adjustment_id: int, wanted: Adjustment.Status) -> Adjustment:
    """The adjustment, locked; or as it is, if the operator has decided it in the wanted way."""
    _require(operator, "wallets.decide_adjustment")
    adjustment = Adjustment.objects.select_for_update(no_key=True).filter(pk=adjustment_id).first()
    if adjustment is None:
        raise NotFound
    undecided = adjustment.status == Adjustment.Status.PROPOSED
    if not undecided and (adjustment.status, adjustment.decided_by_id) != (wanted, operator.pk):
        raise AlreadyDecided
    return adjustment


def _decide(adjustment: Adjustment, operator: Wallet, status: Adjustment.Status) -> Adjustment:
    adjustment.status = status
    adjustment.decided_by = operator
    adjustment.decided_at = timezone.now()
    adjustment.save()
    return adjustment
