"""Withdrawals: asked for, decided, taken back. Nothing here talks to a node or holds a key.

A withdrawal's credits are in a pending account of its own from the transaction that makes it to
the one that ends it: paid (pending -> vault) or given back (pending -> the player).
`Withdrawal.MOVES` is the table of what can become of one.
"""

import secrets
from datetime import datetime, timedelta

import structlog
from django.conf import settings
from django.db.models import Sum
from django.utils import timezone

from contracts.models import Token, Withdrawal
from wallets import ledger
from wallets.db import in_transaction
from wallets.errors import Conflict, Forbidden, NotFound, Problem, WalletFrozen
from wallets.models import Account, Service, Transfer, Wallet
from wallets.services import require_running

Status = Withdrawal.Status
# As many bits as the vault takes. Drawn at random, an id can't meet one that was signed before the
# database was restored from a backup, as a counter would.
VOUCHER_BITS = 256
MAX_UINT256 = 2**256 - 1
log = structlog.get_logger(__name__)


class WithdrawalsClosed(Conflict):
    """There is no vault, or it knows no price of the coin that is paid out."""

    code, title = "withdrawals_closed", "Nothing can be withdrawn now"


class WithdrawalOutOfRange(Problem):
    """Fewer credits than a withdrawal must be over, or more than the chain can pay."""

    code, title = "withdrawal_out_of_range", "The credits are outside the limits"


class DailyLimitReached(Conflict):
    """The wallet may not withdraw so much today; `left` in the problem is what it still may."""

    code, title = "daily_limit_reached", "That is more than this wallet may withdraw today"


class TooLateToCancel(Conflict):
    """The voucher is signed: whoever has seen it may redeem it until its deadline."""

    code, title = "too_late_to_cancel", "The voucher has been signed, or the withdrawal has ended"


class AlreadyDecided(Conflict):
    """Another operator, the player or the signer was faster."""

    code, title = "already_decided", "This withdrawal has been decided already"


@in_transaction
def request_withdrawal(*, wallet: Wallet, credits_: int) -> Withdrawal:
    """Hold credits for a withdrawal; above a threshold it waits for an operator's approval.

    Raises ServicePaused, WalletFrozen, WithdrawalsClosed, WithdrawalOutOfRange, DailyLimitReached
    and, also for a wallet below zero, InsufficientCredits.
    """
    require_running(Service.Name.WITHDRAWALS)
    # Locked, so that two requests at once can't pass the limit together.
    wallet = Wallet.objects.select_for_update(no_key=True).get(pk=wallet.pk)
    if not (wallet.is_active and wallet.address):
        raise WalletFrozen
    token = _paid_token()
    amount = credits_ * token.credit_price
    if credits_ < settings.WITHDRAWAL_MIN_CREDITS or amount > MAX_UINT256:
        raise WithdrawalOutOfRange(
            f"A withdrawal is over at least {settings.WITHDRAWAL_MIN_CREDITS} credits.",
            minimum=settings.WITHDRAWAL_MIN_CREDITS,
        )
    now = timezone.now()
    left = settings.WITHDRAWAL_WALLET_DAILY_CREDITS - withdrawn_on_day_of(wallet, now)
    if credits_ > left:
        raise DailyLimitReached(left=max(left, 0))
    alone = credits_ <= settings.WITHDRAWAL_APPROVAL_CREDITS
    withdrawal = Withdrawal.objects.create(
        wallet=wallet,
        token=token,
        credits=credits_,
        amount=amount,
        voucher=secrets.randbits(VOUCHER_BITS),
        status=Status.APPROVED if alone else Status.REQUESTED,
        hold=Withdrawal.Hold.NONE if alone else Withdrawal.Hold.APPROVAL,
    )
    ledger.move(
        kind=Transfer.Kind.WITHDRAWAL,
        key=f"withdrawal:{withdrawal.pk}",
        source=ledger.player_account(wallet),
        target=pending_account(withdrawal),
        amount=credits_,
    )
    log.info(
        "withdrawal requested",
        withdrawal=withdrawal.pk,
        wallet=wallet.pk,
        credits=str(credits_),
        status=str(withdrawal.status),
    )
    return withdrawal


@in_transaction
def cancel_withdrawal(*, wallet: Wallet, withdrawal_id: int) -> Withdrawal:
    """Take a withdrawal back that is not signed yet. Raises NotFound, TooLateToCancel."""
    withdrawal = locked(withdrawal_id)
    if withdrawal.wallet_id != wallet.pk:
        raise NotFound
    if withdrawal.status == Status.CANCELLED:
        return withdrawal
    if Status.CANCELLED not in Withdrawal.MOVES[withdrawal.status]:
        raise TooLateToCancel
    return give_back(withdrawal, Status.CANCELLED)


@in_transaction
def approve_withdrawal(*, operator: Wallet, withdrawal_id: int) -> Withdrawal:
    """Let the signer sign a withdrawal; once, however often it is asked.

    Raises Forbidden without the permission, NotFound, AlreadyDecided.
    """
    withdrawal = _undecided(operator, withdrawal_id)
    if withdrawal.status == Status.APPROVED:
        if withdrawal.decided_by_id is None:
            # It needed nobody when it was asked for; since then the threshold has been lowered.
            return _decided(withdrawal, operator)
        if withdrawal.decided_by_id == operator.pk:
            return withdrawal
    if withdrawal.status != Status.REQUESTED:
        raise AlreadyDecided
    move(withdrawal, Status.APPROVED)
    return _decided(withdrawal, operator)


@in_transaction
def reject_withdrawal(*, operator: Wallet, withdrawal_id: int) -> Withdrawal:
    """Turn down a withdrawal that is not signed yet, approved or not; its credits go back.

    Raises Forbidden without the permission, NotFound, AlreadyDecided.
    """
    withdrawal = _undecided(operator, withdrawal_id)
    if (withdrawal.status, withdrawal.decided_by_id) == (Status.REJECTED, operator.pk):
        return withdrawal
    if Status.REJECTED not in Withdrawal.MOVES[withdrawal.status]:
        raise AlreadyDecided
    return _decided(give_back(withdrawal, Status.REJECTED), operator)


def withdrawn_on_day_of(wallet: Wallet, moment: datetime) -> int:
    """Credits that a wallet asked for on the UTC day of a moment, and was not given back."""
    start = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    asked = wallet.withdrawals.filter(
        requested_at__gte=start, requested_at__lt=start + timedelta(days=1)
    ).exclude(status__in=Withdrawal.GIVEN_BACK)
    return asked.aggregate(Sum("credits"))["credits__sum"] or 0


def pending_account(withdrawal: Withdrawal) -> Account:
    """The account that holds a withdrawal's credits."""
    return ledger.open_account(
        kind=Account.Kind.PENDING, key=f"withdrawal:{withdrawal.pk}", wallet=withdrawal.wallet
    )


def locked(withdrawal_id: int) -> Withdrawal:
    """A withdrawal, locked for the transaction. Whatever changes one holds this lock."""
    withdrawal = (
        Withdrawal.objects.select_for_update(no_key=True, of=("self",))
        .select_related("wallet", "token__vault")
        .filter(pk=withdrawal_id)
        .first()
    )
    if withdrawal is None:
        raise NotFound
    return withdrawal


def move(withdrawal: Withdrawal, status: Withdrawal.Status) -> None:
    """Change a locked withdrawal's status, by the table of moves alone."""
    if status not in Withdrawal.MOVES[withdrawal.status]:
        raise ValueError(f"{withdrawal} is {withdrawal.status}; it can't become {status}.")
    log.info("withdrawal moved", withdrawal=withdrawal.pk, was=withdrawal.status, now=str(status))
    withdrawal.status = status
    withdrawal.hold = Withdrawal.Hold.NONE
    ended = not Withdrawal.MOVES[status] or status == Status.PAID
    withdrawal.ended_at = timezone.now() if ended else None
    withdrawal.save()


def give_back(withdrawal: Withdrawal, status: Withdrawal.Status) -> Withdrawal:
    """End a locked withdrawal by giving its credits back: the key is the same however it ends."""
    move(withdrawal, status)
    ledger.move(
        kind=Transfer.Kind.WITHDRAWAL_RETURN,
        key=f"withdrawal:{withdrawal.pk}:back",
        source=pending_account(withdrawal),
        target=ledger.player_account(withdrawal.wallet),
        amount=withdrawal.credits,
    )
    return withdrawal


def _paid_token() -> Token:
    """The coin that withdrawals are paid in, of the vault that players are sent to."""
    token = Token.objects.filter(
        vault__chain=settings.CHAIN_ID,
        vault__current=True,
        address__iexact=settings.WITHDRAWAL_TOKEN,
    ).first()
    if token is None:
        raise WithdrawalsClosed
    return token


def _undecided(operator: Wallet, withdrawal_id: int) -> Withdrawal:
    if not operator.has_perm("contracts.decide_withdrawal"):
        raise Forbidden
    return locked(withdrawal_id)


def _decided(withdrawal: Withdrawal, operator: Wallet) -> Withdrawal:
    withdrawal.decided_by = operator
    withdrawal.decided_at = timezone.now()
    withdrawal.tried_at = None
    withdrawal.save()
    return withdrawal
