"""The console's page of audits, with a button to have one run."""

from django.contrib import admin

from bas_site import tasks
from wallets.admin_actions import HasActions, may, with_reason
from wallets.admin_base import ReadOnlyAdmin
from wallets.models import AuditRun, Wallet


@admin.register(AuditRun)
class AuditRunAdmin(HasActions, ReadOnlyAdmin):
    """What each audit found."""

    grants = ("view", "run")
    actions_list = ("run",)
    list_display = ("started_at", "result", "whole")
    fieldsets = ((None, {"fields": ("started_at", "finished_at", "whole", "result", "findings")}),)

    has_run_permission = may("wallets.run_auditrun")

    @with_reason(
        "Audit now",
        permission="run",
        icon="fact_check",
        question="A worker looks into all that was written since the last seal. What it finds is "
        "on this list in a moment.",
    )
    def run(self, *, operator: Wallet, row: None, reason: str) -> None:
        """Have the books audited."""
        tasks.run_audit.delay_on_commit()
