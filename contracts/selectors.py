"""Reads of what a player has put into the vault and taken out of it."""

from collections.abc import Iterator

from django.db.models import QuerySet

from contracts.models import Deposit, Withdrawal
from contracts.serializers import DepositSerializer
from contracts.withdrawal_serializers import WithdrawalSerializer
from wallets.export import Rows, in_batches
from wallets.models import Wallet


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
