"""The console's page of the ranges that operators wanted read again, and how they ask for one."""

from django import forms
from django.contrib import admin
from unfold.widgets import UnfoldAdminIntegerFieldWidget

from contracts.models import Chain, Rescan
from wallets.admin_actions import ReasonForm
from wallets.admin_base import ReadOnlyAdmin, amount, grouped, moment, plain, relate, to


class RangeForm(ReasonForm):
    """Which blocks, all of them read before."""

    first = forms.IntegerField(min_value=0, widget=UnfoldAdminIntegerFieldWidget)
    last = forms.IntegerField(min_value=0, widget=UnfoldAdminIntegerFieldWidget)
    field_order = ("first", "last", "reason")

    def clean_last(self) -> int:
        """A block that has been read, and not one before the first."""
        last: int = self.cleaned_data["last"]
        if last > self.row.scanned_block:
            read = grouped(self.row.scanned_block)
            raise forms.ValidationError(f"The watcher has read up to block {read}.")
        if last < self.cleaned_data.get("first", 0):
            raise forms.ValidationError("This is before the first one.")
        return last


@admin.register(Rescan)
class RescanAdmin(ReadOnlyAdmin):
    """Ranges that operators wanted read again."""

    linked_by = ("chain",)
    list_select_related = ("chain", "asked_by")
    list_display = (
        amount("first", "First block"),
        amount("last", "Last block"),
        to("chain", "Chain"),
        amount("next_block", "Read up to below"),
        amount("missing", "Deposits that were missing"),
        plain("trouble", "Trouble"),
        to("asked_by", "Asked for by"),
        moment("asked_at", "Asked for"),
        moment("ended_at", "Ended"),
    )
    fieldsets = ((None, {"fields": list_display}),)
    nothing_here = "A chain's page has a button to read some of its blocks again."


relate(Chain, Rescan, lambda chain: {"chain__id__exact": chain.pk}, icon="history")
