"""Reads of a player's credits."""

from collections.abc import Callable

from django.db.models import F, QuerySet, Sum

from wallets import ledger
from wallets.models import Account, Posting, Wallet

# What rooms above hold for a player, by its name in the API: which stake in a match's escrow is
# whose, only the match knows, so matches registers a function from a wallet to credits.
HOLDINGS: dict[str, Callable[[Wallet], int]] = {}


def credits_of(wallet: Wallet) -> dict[str, int]:
    """A player's credits: those free to use, and those held, by name."""
    pending = wallet.accounts.filter(kind=Account.Kind.PENDING, balance__gt=0)
    return {
        "available": ledger.balance(ledger.player_account(wallet)),
        "pending_withdrawal": pending.aggregate(Sum("balance"))["balance__sum"] or 0,
        **{name: holding(wallet) for name, holding in HOLDINGS.items()},
    }


def system_credits(kind: Account.Kind) -> int:
    """Credits in a system account; none before its first transfer."""
    account = Account.objects.filter(asset=ledger.CREDITS, key=kind.value).first()
    return ledger.balance(account) if account else 0


def statement(wallet: Wallet) -> QuerySet[Posting]:
    """A player's postings, each with the balance it left."""
    return (
        # Said to the planner: only postings with a version are in the index.
        Posting.objects.filter(account=ledger.player_account(wallet), version__isnull=False)
        .select_related("transfer")
        .annotate(kind=F("transfer__kind"), created_at=F("transfer__created_at"))
    )
