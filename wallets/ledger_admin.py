"""The console's pages of the ledger's upkeep: adjustments and seals."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.utils import flatten_fieldsets
from django.http import HttpRequest
from eth_utils.address import is_address, to_checksum_address

from wallets.adjustments import (
    MAX_AMOUNT,
    approve_adjustment,
    propose_adjustment,
    reject_adjustment,
)
from wallets.admin_actions import HasActions, may, with_reason
from wallets.admin_base import ReadOnlyAdmin, by_address
from wallets.models import Adjustment, Seal, Wallet


class ProposalForm(forms.ModelForm):
    """What an operator says of an adjustment."""

    address = forms.CharField(max_length=42, help_text="the player's")
    amount = forms.IntegerField(
        min_value=-MAX_AMOUNT,
        max_value=MAX_AMOUNT,
        help_text="credits to give; below zero, to take",
    )

    class Meta:
        model = Adjustment
        fields = ["amount", "reason"]

    def clean_address(self) -> str:
        """Find the player."""
        address = self.cleaned_data["address"].strip()
        if is_address(address.lower()):
            wallet = Wallet.objects.filter(address=to_checksum_address(address.lower())).first()
            if wallet:
                self.cleaned_data["wallet"] = wallet
                return address
        raise forms.ValidationError("No player has this address.")

    def clean_amount(self) -> int:
        """Something has to move."""
        if not self.cleaned_data["amount"]:
            raise forms.ValidationError("Nothing would move.")
        return self.cleaned_data["amount"]


@admin.register(Adjustment)
class AdjustmentAdmin(HasActions):
    """Proposed here by one operator, approved here by another; never changed, never deleted."""

    list_display = ("id", "wallet", "amount", "reason", "status", "proposed_by", "decided_by")
    list_filter = ("status",)
    list_select_related = ("wallet", "proposed_by", "decided_by")
    fieldsets = (
        (None, {"fields": ("wallet", "asset", "amount", "reason", "status")}),
        (
            "Decision",
            {"fields": ("proposed_by", "proposed_at", "decided_by", "decided_at", "transfer")},
        ),
    )
    searches = (by_address("wallet__address"),)
    grants = ("view", "propose", "decide")
    actions_detail = ("approve", "reject")

    has_add_permission = may("wallets.propose_adjustment")

    has_decide_permission = may("wallets.decide_adjustment")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody."""
        return False

    def get_fieldsets(self, request: HttpRequest, obj: Adjustment | None = None) -> Any:
        """The form of a proposal, or all there is of one."""
        return self.fieldsets if obj else [(None, {"fields": ("address", "amount", "reason")})]

    def get_readonly_fields(self, request: HttpRequest, obj: Adjustment | None = None) -> list[Any]:
        """All, once it is proposed."""
        return flatten_fieldsets(self.fieldsets) if obj else []

    def get_form(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        """The form of a proposal."""
        return super().get_form(request, obj, **kwargs) if obj else ProposalForm

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Propose."""
        proposed = propose_adjustment(
            operator=request.user,
            wallet=form.cleaned_data["wallet"],
            amount=form.cleaned_data["amount"],
            reason=form.cleaned_data["reason"],
        )
        obj.pk = proposed.pk
        obj.__dict__.update(Adjustment.objects.get(pk=proposed.pk).__dict__)

    @with_reason(
        "Approve",
        permission="decide",
        icon="check",
        question="The credits move at once. Only another adjustment takes them back.",
        possible=lambda adjustment: adjustment.status == Adjustment.Status.PROPOSED,
    )
    def approve(self, *, operator: Wallet, row: Adjustment, reason: str) -> None:
        """Carry out what another operator has proposed."""
        approve_adjustment(operator=operator, adjustment_id=row.pk)

    @with_reason(
        "Reject",
        permission="decide",
        icon="block",
        question="No credits move.",
        possible=lambda adjustment: adjustment.status == Adjustment.Status.PROPOSED,
    )
    def reject(self, *, operator: Wallet, row: Adjustment, reason: str) -> None:
        """Turn a proposal down."""
        reject_adjustment(operator=operator, adjustment_id=row.pk)


@admin.register(Seal)
class SealAdmin(ReadOnlyAdmin):
    """Days under their seals."""

    list_display = ("day", "postings", "posting", "hash", "sealed_at")
    fieldsets = ((None, {"fields": list_display}),)
