"""The console's pages on what you own: accounts, transfers and their postings."""

from operator import attrgetter

from django.contrib import admin
from django.db.models import F, Func, QuerySet
from django.http import HttpRequest

from wallets.admin_base import (
    ADDRESS,
    KEY,
    ReadOnlyAdmin,
    ReadOnlyInline,
    amount,
    by_address,
    by_text,
    cell,
    code,
    moment,
    plain,
    relate,
    status,
    to,
)
from wallets.fields import WholeNumberField
from wallets.models import Account, Asset, Posting, Transfer, Wallet

ACCOUNT_COLOURS = {
    Account.Kind.AVAILABLE: "success",
    Account.Kind.ESCROW: "warning",
    Account.Kind.PENDING: "warning",
    Account.Kind.VAULT: "info",
    Account.Kind.FEES: "primary",
    Account.Kind.HOUSE: "primary",
}
TRANSFER_COLOURS = {
    Transfer.Kind.DEPOSIT: "success",
    Transfer.Kind.DEPOSIT_REVERSAL: "danger",
    Transfer.Kind.STAKE: "warning",
    Transfer.Kind.REFUND: "info",
    Transfer.Kind.PAYOUT: "primary",
    Transfer.Kind.ADJUSTMENT: "danger",
    Transfer.Kind.REVERSAL: "danger",
    Transfer.Kind.WITHDRAWAL: "warning",
    Transfer.Kind.WITHDRAWAL_RETURN: "info",
    Transfer.Kind.WITHDRAWAL_PAID: "success",
}


class PostingInline(ReadOnlyInline):
    """The legs of a transfer."""

    model = Posting
    related = ("account__asset", "account__wallet")
    ordering = ("pk",)
    fields = (
        to("account", "Account", text=attrgetter("key"), keep=KEY),
        status("account.kind", "Kind", ACCOUNT_COLOURS),
        to("account.wallet", "Wallet", keep=ADDRESS),
        amount("amount", "Amount", signed=True),
        amount("previous_balance", "Balance before"),
        amount("balance", "Balance after"),
    )


@admin.register(Transfer)
class TransferAdmin(ReadOnlyAdmin):
    """Movements of credits, each with its legs."""

    searches = (by_text("key__startswith", "key, or its beginning"),)
    list_filter = ("kind",)
    linked_by = ("key", "reverses")
    list_display = (
        code("key", "Key", keep=(48, 8)),
        status("kind", "Kind", TRANSFER_COLOURS),
        cell(lambda transfer: transfer.memo[:80], "Memo"),
        moment("created_at", "Posted"),
    )
    list_select_related = ("reverses",)
    fieldsets = (
        (
            None,
            {
                "fields": (
                    code("key", "Key"),
                    status("kind", "Kind", TRANSFER_COLOURS),
                    moment("created_at", "Posted"),
                    "memo",
                    to("reverses", "Takes back"),
                )
            },
        ),
    )
    inlines = (PostingInline,)
    nothing_here = "Credits move when players deposit, stake, win or withdraw."


@admin.register(Posting)
class PostingAdmin(ReadOnlyAdmin):
    """Legs of transfers, account by account."""

    # Postings of an account are found by its versions; those of system accounts have none.
    searches = (
        by_address("account__wallet__address", version__isnull=False),
        by_text("transfer__key", "transfer key"),
    )
    list_filter = ("transfer__kind",)
    linked_by = ("account", "account__wallet", "version")
    list_select_related = ("transfer", "account", "account__wallet")
    list_display = (
        moment("transfer.created_at", "Posted"),
        to("account", "Account", text=attrgetter("key"), keep=KEY),
        status("transfer.kind", "Kind", TRANSFER_COLOURS),
        amount("amount", "Amount", signed=True),
        amount("balance", "Balance after"),
        to("transfer", "Transfer", keep=KEY),
    )
    fieldsets = (
        (
            None,
            {
                "fields": (
                    to("transfer", "Transfer"),
                    status("transfer.kind", "Kind", TRANSFER_COLOURS),
                    moment("transfer.created_at", "Posted"),
                    to("account", "Account"),
                    to("account.wallet", "Wallet"),
                    amount("amount", "Amount", signed=True),
                    amount("previous_balance", "Balance before"),
                    amount("balance", "Balance after"),
                    amount("version", "Number on the account"),
                )
            },
        ),
    )


@admin.register(Account)
class AccountAdmin(ReadOnlyAdmin):
    """Places that credits can be in, with what is in them now."""

    searches = (
        by_address("wallet__address"),
        # Keys are unique in an asset: with the assets named, the index serves.
        by_text("key", "key", asset__in=Asset.objects.values("pk")),
    )
    list_filter = ("kind", "asset")
    linked_by = ("wallet", "key")
    list_select_related = ("wallet", "asset")
    list_display = (
        code("key", "Key", keep=KEY),
        status("kind", "Kind", ACCOUNT_COLOURS),
        to("wallet", "Wallet", keep=ADDRESS),
        amount("now", "Balance"),
        plain("asset_id", "Asset"),
        moment("created_at", "Opened"),
    )
    fieldsets = (
        (
            None,
            {
                "fields": (
                    code("key", "Key"),
                    status("kind", "Kind", ACCOUNT_COLOURS),
                    to("wallet", "Wallet"),
                    amount("now", "Balance"),
                    to("asset", "Asset"),
                    amount("version", "Postings"),
                    moment("created_at", "Opened"),
                )
            },
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Account]:
        """Accounts with this moment's balance: the stored one of a system account lags behind."""
        balance = Func(F("pk"), function="ledger_balance", output_field=WholeNumberField())
        return super().get_queryset(request).annotate(now=balance)


@admin.register(Asset)
class AssetAdmin(ReadOnlyAdmin):
    """What accounts are kept in."""

    list_display = ("code", "name")
    fieldsets = ((None, {"fields": list_display}),)


relate(Wallet, Account, lambda w: not w.is_staff and {"wallet__id__exact": w.pk}, icon="savings")
relate(
    Wallet,
    Posting,
    lambda w: not w.is_staff and {"account__wallet__id__exact": w.pk, "version__isnull": 0},
    icon="receipt_long",
)
relate(Asset, Account, lambda asset: {"asset__exact": asset.pk}, icon="savings")
relate(
    Account,
    Posting,
    lambda a: {"account__id__exact": a.pk, "version__isnull": int(a.kind in Account.SYSTEM)},
    icon="receipt_long",
)
relate(
    Transfer,
    Transfer,
    lambda transfer: {"reverses__id__exact": transfer.pk},
    icon="undo",
    name="reversals",
)
