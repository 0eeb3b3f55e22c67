"""The wallets' periodic work."""

from contextlib import suppress
from datetime import timedelta

from celery import shared_task
from django.utils import timezone

from wallets import ledger_upkeep
from wallets.ledger_upkeep import NotSettled
from wallets.models import BearerToken, IdempotencyKey, LoginNonce, Session

# A server whose clock is behind this one's must not meet a nonce it still takes and no row of it.
CLOCKS_DIFFER = timedelta(hours=1)
# No client sends a request again after so long.
IDEMPOTENCY_KEYS_KEPT = timedelta(days=30)


@shared_task
def forget_expired() -> None:
    """Delete sessions, nonces, tokens and stored answers that are past their time."""
    now = timezone.now()
    Session.objects.filter(expire_date__lt=now).delete()
    LoginNonce.objects.filter(expires_at__lt=now - CLOCKS_DIFFER).delete()
    BearerToken.objects.filter(expires_at__lt=now).delete()
    IdempotencyKey.objects.filter(created_at__lt=now - IDEMPOTENCY_KEYS_KEPT).delete()


@shared_task
def roll_up() -> None:
    """Sum up what has been posted to system accounts; left for the next time if that must wait."""
    with suppress(NotSettled):
        ledger_upkeep.roll_up()


@shared_task(soft_time_limit=3600, time_limit=3700)
def seal_days() -> None:
    """Seal the days that have ended; left for the next time while transactions are open."""
    with suppress(NotSettled):
        ledger_upkeep.seal_days()
