"""The wallets' periodic work."""

from celery import shared_task
from django.core.management import call_command
from django.utils import timezone

from wallets.models import BearerToken, LoginNonce


@shared_task
def forget_expired() -> None:
    """Delete sessions, nonces and tokens that are past their time."""
    call_command("clearsessions")
    for model in (LoginNonce, BearerToken):
        model.objects.filter(expires_at__lt=timezone.now()).delete()
