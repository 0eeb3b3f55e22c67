"""The house's figures, this moment's and those of the last days. An index answers each of them."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Count, Max, Sum
from django.db.models.functions import TruncHour
from django.utils import timezone

from contracts.models import Deposit, Withdrawal
from contracts.selectors import credits_held, credits_owed
from matches.models import Match, RatedMatch, Seat
from wallets.models import Account, Snapshot
from wallets.selectors import system_credits

KEPT = timedelta(days=90)
CHARTED = timedelta(days=14)


def in_play() -> int:
    """Credits staked in matches that have not ended."""
    return Seat.objects.filter(staked__gt=0).aggregate(n=Sum("staked"))["n"] or 0


def fees() -> int:
    """Credits of the house."""
    return system_credits(Account.Kind.FEES)


def pending_deposits() -> tuple[int, int]:
    """Deposits that do not count yet, and their credits."""
    pending = Deposit.objects.filter(status=Deposit.Status.PENDING)
    found = pending.aggregate(deposits=Count("pk"), credits=Sum("credits"))
    return found["deposits"], found["credits"] or 0


def waiting_withdrawals() -> tuple[int, int]:
    """Withdrawals that wait for an operator or the signer, and their credits."""
    waiting = (Withdrawal.Status.REQUESTED, Withdrawal.Status.APPROVED)
    found = Withdrawal.objects.filter(status__in=waiting).aggregate(n=Count("pk"), c=Sum("credits"))
    return found["n"], found["c"] or 0


def running_matches() -> int:
    """Matches that are played now."""
    return Match.objects.filter(status=Match.Status.RUNNING).count()


def rated_matches() -> int:
    """Matches that were played for a stake to a result, ever."""
    return RatedMatch.objects.aggregate(n=Max("n"))["n"] or 0


FIGURES: dict[str, Callable[[], int]] = {
    "owed": credits_owed,
    "held": credits_held,
    "in_play": in_play,
    "fees": fees,
    "running_matches": running_matches,
    "rated_matches": rated_matches,
}


def note_figures() -> Snapshot:
    """Write this moment's figures down, once in each period, and forget very old ones."""
    seconds = int(settings.FIGURES_SECONDS)
    now = timezone.now()
    at = datetime.fromtimestamp(now.timestamp() // seconds * seconds, UTC)
    figures = {name: figure() for name, figure in FIGURES.items()}
    snapshot, _ = Snapshot.objects.get_or_create(at=at, defaults={"figures": figures})
    Snapshot.objects.filter(at__lt=now - KEPT).delete()
    return snapshot


def by_hour() -> list[dict[str, Any]]:
    """The last figures of each hour of the last days, with the hour."""
    last = (
        Snapshot.objects.filter(at__gt=timezone.now() - CHARTED)
        .annotate(hour=TruncHour("at"))
        .order_by("hour", "-at")
        .distinct("hour")
    )
    return [{"hour": snapshot.hour, **snapshot.figures} for snapshot in last]
