"""What operators do in the console: each action, and where it is."""

from typing import Any

from django.db.models import Model
from django.urls import reverse

# What it is done to, action, the permission that it takes, and what it asks for besides the reason.
ACTIONS: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    ("wallet", "freeze", "freeze_wallet", {}),
    ("wallet", "thaw", "freeze_wallet", {}),
    ("matches", "pause", "pause_service", {}),
    ("matches", "resume", "pause_service", {}),
    ("deposits", "pause", "pause_service", {}),
    ("deposits", "resume", "pause_service", {}),
    ("withdrawals", "pause", "pause_service", {}),
    ("withdrawals", "resume", "pause_service", {}),
    ("chain", "pause", "change_chain", {}),
    ("chain", "unpause", "change_chain", {}),
    ("chain", "rescan", "rescan_chain", {"first": 1, "last": 1_000}),
    ("withdrawal", "approve", "decide_withdrawal", {}),
    ("withdrawal", "reject", "decide_withdrawal", {}),
    ("redemption", "explain", "explain_redemption", {}),
    ("adjustment", "approve", "decide_adjustment", {}),
    ("adjustment", "reject", "decide_adjustment", {}),
    ("match", "void", "void_match", {}),
    ("auditrun", "run", "run_auditrun", {}),
)


def url(row: Model | None, action: str) -> str:
    """Where an action on a row is, or one of the list of audits."""
    if row is None:
        return reverse(f"admin:wallets_auditrun_{action}")
    meta = row._meta
    return reverse(f"admin:{meta.app_label}_{meta.model_name}_{action}", args=[row.pk])


def page(row: Model | None) -> str:
    """Where the action's button is."""
    return url(row, "change" if row else "changelist")
