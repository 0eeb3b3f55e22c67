"""The console's page of what operators may pause."""

from django.contrib import admin
from unfold.utils import display_for_label

from wallets.admin_actions import HasActions, may, with_reason
from wallets.admin_base import ReadOnlyAdmin, cell, moment, plain, to
from wallets.models import Service, Wallet
from wallets.services import pause_service, resume_service


def _state(service: Service) -> str:
    state = "paused" if service.pause_reason else "running"
    return display_for_label(state, "-", {"paused": "warning", "running": "success"})


@admin.register(Service)
class ServiceAdmin(HasActions, ReadOnlyAdmin):
    """Deposits, withdrawals and new matches, each of which may be paused."""

    grants = ("view", "pause")
    actions_detail = ("pause", "resume")
    ordering = ("name",)
    list_select_related = ("changed_by",)
    list_display = (
        cell(lambda service: str(service).capitalize(), "What"),
        cell(_state, "State"),
        plain("pause_reason", "Why, as players are told"),
        to("changed_by", "Last paused or resumed by"),
        moment("changed_at", "When"),
    )
    fieldsets = ((None, {"fields": list_display}),)

    has_pause_permission = may("wallets.pause_service")

    @with_reason(
        "Pause",
        permission="pause",
        icon="pause",
        question="Nothing new is taken until it is resumed, and nothing is lost: deposits are "
        "credited then, withdrawals signed then, and running matches are played to their end. "
        "Players are shown the reason.",
        possible=lambda service: not service.pause_reason,
    )
    def pause(self, *, operator: Wallet, row: Service, reason: str) -> None:
        """Take nothing new."""
        pause_service(operator=operator, name=row.pk, reason=reason)

    @with_reason(
        "Resume",
        permission="pause",
        icon="play_arrow",
        question="What waited goes on.",
        possible=lambda service: bool(service.pause_reason),
    )
    def resume(self, *, operator: Wallet, row: Service, reason: str) -> None:
        """Go on."""
        resume_service(operator=operator, name=row.pk)
