"""Reads of what a player has put into the vault and taken out of it, and of how the chains do."""

from collections.abc import Iterator
from datetime import timedelta

from django.conf import settings
from django.db.models import Case, OuterRef, Q, QuerySet, Subquery, Sum, When
from django.db.models.functions import Coalesce
from django.utils import timezone

from contracts.models import Block, Chain, Deposit, Token, Withdrawal
from contracts.serializers import DepositSerializer
from contracts.withdrawal_serializers import WithdrawalSerializer
from wallets.export import Rows, in_batches
from wallets.models import Account, Wallet
from wallets.selectors import system_credits

# Two scans of a long catch-up, and how old what is read may be. Alerts of docs/ops/alerts.yml have
# the same.
LATE_SECONDS, BEHIND_SECONDS = 120, 600
SCANNED_TIMESTAMP = Subquery(
    Block.objects.filter(chain=OuterRef("pk"), number=OuterRef("scanned_block")).values("timestamp")
)
# What the vaults hold is noted every minute. Of the deposits since then so many are looked at, and
# none that is older: when nobody notes it any more, they are to be missed.
UNNOTED, UNNOTED_TIME = 1_000, timedelta(minutes=5)


def chains_as_read() -> QuerySet[Chain]:
    """The chains, each with the time of the last block that was read, `scanned_timestamp`."""
    return Chain.objects.annotate(scanned_timestamp=SCANNED_TIMESTAMP).order_by("pk")


def is_silent(chain: Chain) -> bool:
    """Whether no scan has got to it for LATE_SECONDS."""
    since = timezone.now() - timedelta(seconds=LATE_SECONDS)
    return chain.scanned_at is None or chain.scanned_at < since


def is_behind(chain: Chain) -> bool:
    """Whether what was read of one of `chains_as_read` is BEHIND_SECONDS older than its head."""
    head, last = chain.head_timestamp, chain.scanned_timestamp
    return bool(head and last) and head - last > timedelta(seconds=BEHIND_SECONDS)


def stands_still(chain: Chain) -> bool:
    """Whether its head is older than CHAIN_STILL_SECONDS; never, if that is 0."""
    longest = timedelta(seconds=settings.CHAIN_STILL_SECONDS)
    head = chain.head_timestamp
    return bool(longest and head) and timezone.now() - head > longest


def a_chain_is_late() -> bool:
    """Whether one that is not paused is in trouble, silent, behind or stands still."""
    return any(
        chain.trouble or is_silent(chain) or is_behind(chain) or stands_still(chain)
        for chain in chains_as_read().filter(paused=False)
    )


def withdrawals_for_operators() -> QuerySet[Withdrawal]:
    """Withdrawals that an operator has to look into, and `since` when.

    Some of them need nobody when they are asked for: the signer finds that they do.
    """
    status, hold = Withdrawal.Status, Withdrawal.Hold
    found = Q(hold=hold.OPERATOR) | Q(hold=hold.APPROVAL, decided_by=None)
    waiting = Withdrawal.objects.filter(
        Q(status=status.REQUESTED) | Q(found, status=status.APPROVED)
    )
    return waiting.annotate(since=Coalesce("decided_at", "requested_at"))


def withdrawals_for_the_signer() -> QuerySet[Withdrawal]:
    """Withdrawals that the signer has to sign, and `since` when.

    What operators have it leave alone waits since it last looked, which it goes on doing.
    """
    hold = Withdrawal.Hold
    holds = (hold.WALLET_FROZEN, hold.WALLET_NEGATIVE, hold.WALLET_LIMIT, hold.SERVICE_PAUSED)
    held_up = Q(hold__in=holds) | Q(token__vault__chain__paused=True)
    return (
        Withdrawal.objects.filter(status=Withdrawal.Status.APPROVED)
        .exclude(pk__in=withdrawals_for_operators().values("pk"))
        .annotate(
            since=Case(
                When(held_up, then=Coalesce("tried_at", "decided_at", "requested_at")),
                default=Coalesce("decided_at", "requested_at"),
            )
        )
    )


def credits_owed() -> int:
    """Credits that the vaults have to hold: bought, and not withdrawn.

    The coins of a withdrawal leave its vault when it is redeemed, before its credits are taken out
    of the books.
    """
    redeemed = Withdrawal.objects.filter(status=Withdrawal.Status.REDEEMED)
    left = redeemed.aggregate(credits=Sum("credits"))["credits"] or 0
    return -system_credits(Account.Kind.VAULT) - left


def credits_held() -> int:
    """Credits that the vaults could pay for: when last looked at, and by deposits seen since."""
    newest = Deposit.objects.order_by("-pk")[:UNNOTED]
    came = (
        Deposit.objects.filter(token=OuterRef("pk"), pk__in=newest.values("pk"))
        .filter(status=Deposit.Status.CREDITED, seen_at__gt=timezone.now() - UNNOTED_TIME)
        .filter(seen_at__gt=OuterRef("held_at"))
    )
    credits_ = came.order_by().values("token").annotate(credits=Sum("credits")).values("credits")
    tokens = Token.objects.exclude(held_at=None).annotate(came=Subquery(credits_))
    return sum(token.held // token.credit_price + (token.came or 0) for token in tokens)


def deposits_of(wallet: Wallet) -> QuerySet[Deposit]:
    """A player's deposits, with all that is shown of them."""
    return Deposit.objects.filter(wallet=wallet).select_related("token", "vault__chain")


def withdrawals_of(wallet: Wallet) -> QuerySet[Withdrawal]:
    """A player's withdrawals, with all that is shown of them."""
    return (
        Withdrawal.objects.filter(wallet=wallet)
        .select_related("wallet", "token__vault__chain")
        .prefetch_related("redemptions")
    )


def own_deposits(wallet: Wallet) -> Iterator[Rows]:
    """A player's deposits, for the export of the player's data."""
    for deposits in in_batches(deposits_of(wallet)):
        yield DepositSerializer(deposits, many=True).data


def own_withdrawals(wallet: Wallet) -> Iterator[Rows]:
    """A player's withdrawals, for the export of the player's data."""
    for withdrawals in in_batches(withdrawals_of(wallet)):
        yield WithdrawalSerializer(withdrawals, many=True).data
