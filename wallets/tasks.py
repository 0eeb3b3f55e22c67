"""The wallets' periodic work."""

from contextlib import suppress

from celery import shared_task
from django.core.management import call_command
from django.utils import timezone

from wallets import ledger_upkeep
from wallets.ledger_upkeep import NotSettled
from wallets.models import BearerToken, LoginNonce


@shared_task
def forget_expired() -> None:
    """Delete sessions, nonces and tokens that are past their time."""
    call_command("clearsessions")
    for model in (LoginNonce, BearerToken):
        model.objects.filter(expires_at__lt=timezone.now()).delete()


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
