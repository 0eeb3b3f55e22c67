"""Reads of a player's credits and logins."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.db.models import F, Func, QuerySet, Sum
from django.utils import timezone

from wallets import ledger
from wallets.fields import WholeNumberField
from wallets.models import Account, AuditRun, BearerToken, Posting, Wallet

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
    account = Account.objects.filter(asset=ledger.CREDITS, key=kind.value)
    balance = Func("pk", function="ledger_balance", output_field=WholeNumberField())
    return account.values_list(balance, flat=True).first() or 0


def standing_audit() -> AuditRun | None:
    """The audit that counts: the newest, or the newest of the whole history if that found more.

    What is wrong below the last seal is seen by whole audits alone, so one of what came after it
    takes nothing away.
    """
    runs = AuditRun.objects.order_by("-started_at")
    found = [run for run in (runs.first(), runs.filter(whole=True).first()) if run]
    return max(found, key=lambda run: run.broken, default=None)


def statement(wallet: Wallet) -> QuerySet[Posting]:
    """A player's postings, each with the balance it left."""
    return (
        # Said to the planner: only postings with a version are in the index.
        Posting.objects.filter(account=ledger.player_account(wallet), version__isnull=False)
        .select_related("transfer")
        .annotate(kind=F("transfer__kind"), created_at=F("transfer__created_at"))
    )


def logins_of(wallet: Wallet, *, current: UUID | None) -> list[dict[str, Any]]:
    """A player's sessions and tokens that have not expired, the last used first."""
    shown = ("login_id", "created_at", "last_used_at", "user_agent", "address_prefix")
    now = timezone.now()
    tokens = wallet.tokens.filter(expires_at__gt=now).values(*shown, "name", "scope", "expires_at")
    sessions = wallet.sessions.filter(expire_date__gt=now).values(
        *shown, expires_at=F("expire_date")
    )
    # A session is the player in person, who may do everything.
    of_session = {"kind": "session", "name": "", "scope": BearerToken.Scope.MONEY}
    rows = [*({"kind": "token"} | t for t in tokens), *(of_session | s for s in sessions)]
    rows = [row | {"current": row["login_id"] == current} for row in rows]
    return sorted(rows, key=lambda row: row["last_used_at"], reverse=True)
