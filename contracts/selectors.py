"""Reads of what a player has put into the vault and taken out of it, and of how the chains do."""

from collections.abc import Iterator
from datetime import timedelta

from django.db.models import Q, QuerySet
from django.utils import timezone

from contracts.models import Chain, Deposit, Withdrawal
from contracts.serializers import DepositSerializer
from contracts.withdrawal_serializers import WithdrawalSerializer
from wallets.export import Rows, in_batches
from wallets.models import Wallet

# Two scans of a long catch-up. An alert of docs/ops/alerts.yml has the same.
LATE_SECONDS = 120


def late_chains() -> QuerySet[Chain]:
    """The chains that are in trouble, or that no scan has got to for LATE_SECONDS."""
    since = timezone.now() - timedelta(seconds=LATE_SECONDS)
    silent = Q(scanned_at__isnull=True) | Q(scanned_at__lt=since)
    return Chain.objects.filter(~Q(trouble="") | silent, paused=False)


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
