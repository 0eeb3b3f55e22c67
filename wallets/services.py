"""What players use and operators may pause: deposits, withdrawals, new matches.

A paused service takes nothing new and loses nothing: deposits are still read from the chain, and
are credited when it goes on; withdrawals that wait, wait longer; running matches are played on.
"""

from django.db.models import QuerySet
from django.utils import timezone

from wallets.db import in_transaction
from wallets.errors import Forbidden, ServicePaused
from wallets.models import Service, Wallet


def paused_services() -> QuerySet[Service]:
    """Those that are paused."""
    return Service.objects.exclude(pause_reason="").order_by("pk")


def is_paused(name: Service.Name) -> bool:
    """Whether an operator has paused it."""
    return paused_services().filter(pk=name).exists()


def require_running(name: Service.Name) -> None:
    """Raise ServicePaused, with the operator's reason, if it is paused."""
    paused = paused_services().filter(pk=name).first()
    if paused:
        raise ServicePaused(
            f"{name.label.capitalize()} are paused: {paused.pause_reason}", service=name.value
        )


@in_transaction
def pause_service(*, operator: Wallet, name: str, reason: str) -> None:
    """Pause a service; players are shown the reason. Raises Forbidden, ValueError without one."""
    if not reason.strip():
        raise ValueError("A pause has a reason.")
    _change(operator, name, reason.strip())


@in_transaction
def resume_service(*, operator: Wallet, name: str) -> None:
    """Let a service go on. Raises Forbidden."""
    _change(operator, name, "")


def _change(operator: Wallet, name: str, pause_reason: str) -> None:
    if not operator.has_perm("wallets.pause_service"):
        raise Forbidden
    Service.objects.update_or_create(
        pk=name,
        defaults={
            "pause_reason": pause_reason,
            "changed_by": operator,
            "changed_at": timezone.now(),
        },
    )
