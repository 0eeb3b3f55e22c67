"""The console's pages on players, operators, and the ledger."""

from operator import attrgetter
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group, Permission
from django.core.exceptions import PermissionDenied
from django.db.models import F, Func, ManyToManyField, Model, OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from unfold.forms import AdminPasswordChangeForm, UserCreationForm
from unfold.utils import display_for_label
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from wallets.admin_base import (
    ADDRESS,
    KEY,
    ConsoleAdmin,
    ReadOnlyAdmin,
    ReadOnlyInline,
    amount,
    by_address,
    by_number,
    by_text,
    cell,
    code,
    grouped,
    moment,
    plain,
    relate,
    status,
    to,
)
from wallets.fields import WholeNumberField
from wallets.models import Account, Asset, BearerToken, Posting, Transfer, Wallet
from wallets.selectors import HOLDINGS

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


# --- Who you are ------------------------------------------------------------------------------
class PermissionChoice(forms.ModelMultipleChoiceField):
    """Permissions by what they allow."""

    def label_from_instance(self, obj: Permission) -> str:
        """Their own words, without the app and model that only programmers know."""
        return obj.name.removeprefix("Can ").capitalize()


class GrantsPermissions(ConsoleAdmin):
    """A page on which permissions are ticked: those that open something in this console."""

    def formfield_for_manytomany(
        self, db_field: ManyToManyField, request: HttpRequest, **kwargs: Any
    ) -> forms.ModelMultipleChoiceField:
        """Tick boxes, and no permission that no page asks for."""
        kwargs["widget"] = UnfoldAdminCheckboxSelectMultipleWidget()
        kwargs["help_text"] = ""
        if db_field.related_model is Permission:
            codenames = [
                f"{grant}_{model._meta.model_name}"
                for model, page in self.admin_site._registry.items()
                for grant in page.grants
            ]
            kwargs |= {
                "form_class": PermissionChoice,
                "queryset": Permission.objects.filter(codename__in=codenames).order_by("name"),
            }
        return super().formfield_for_manytomany(db_field, request, **kwargs)

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Without a menu for making groups beside the boxes: it would be wide of them."""
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if isinstance(db_field, ManyToManyField):
            field.widget.can_add_related = False
        return field


class OperatorForm(UserCreationForm):
    """A new operator: a username and a password."""

    class Meta:
        model = Wallet
        fields = ("username",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.instance.is_staff = True
        self.fields["username"].required = True


def _role(wallet: Wallet) -> str:
    role = "player" if not wallet.is_staff else "superuser" if wallet.is_superuser else "operator"
    return display_for_label(role, "-", {"superuser": "danger", "operator": "primary"})


def _password(operator: Wallet) -> str:
    link = reverse("admin:auth_user_password_change", args=[operator.pk])
    return format_html('<a class="text-link" href="{}">Set another</a>', link)


def _credits(wallet: Wallet) -> str | None:
    if wallet.available is None:
        return None
    held = {"available": wallet.available, **{n: of(wallet) for n, of in HOLDINGS.items()}}
    return " · ".join(f"{grouped(n)} {name.replace('_', ' ')}" for name, n in held.items())


@admin.register(Wallet)
class WalletAdmin(GrantsPermissions, UserAdmin):
    """Players, who may be shut out and let in again, and operators, whom superusers make.

    Nobody is deleted: what an operator did and what a player owns must stay somebody's.
    """

    form = forms.ModelForm
    add_form = OperatorForm
    change_password_form = AdminPasswordChangeForm
    change_user_password_template = None
    filter_horizontal = ()
    grants = ("view", "change")
    searches = (by_address("address"), by_number("pk", "number"), by_text("username", "username"))
    list_filter = ("is_staff", "is_active")
    linked_by = ("groups",)
    list_display = (
        "__str__",
        cell(_role, "Role"),
        amount("available", "Available credits"),
        "is_active",
        moment("created_at", "Since"),
    )
    fieldsets_of_player = (
        (
            None,
            {
                "fields": (
                    code("address", "Address"),
                    cell(_credits, "Credits"),
                    "is_active",
                    moment("created_at", "Since"),
                )
            },
        ),
    )
    fieldsets_of_operator = (
        (
            None,
            {
                "fields": (
                    "username",
                    cell(_password, "Password"),
                    "is_active",
                    moment("last_login", "Last login"),
                    moment("created_at", "Since"),
                )
            },
        ),
        ("What this operator may do", {"fields": ("is_superuser", "groups", "user_permissions")}),
    )
    add_fieldsets = (
        (
            None,
            {
                "fields": ("username", "password1", "password2"),
            },
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Wallet]:
        """Wallets with the credits that each is free to use."""
        own = Account.objects.filter(wallet=OuterRef("pk"), kind=Account.Kind.AVAILABLE)
        available = Subquery(own.values("balance")[:1], output_field=WholeNumberField())
        return super().get_queryset(request).annotate(available=available)

    def get_fieldsets(self, request: HttpRequest, obj: Wallet | None = None) -> Any:
        """One page for players, another for operators."""
        if obj is None:
            return self.add_fieldsets
        return self.fieldsets_of_operator if obj.is_staff else self.fieldsets_of_player

    def editable_fields(self, request: HttpRequest, obj: Wallet | None) -> tuple[str, ...]:
        """Whether a player may log in; an operator's rights, but never one's own."""
        if obj is None:
            return ("username", "password1", "password2")
        if not obj.is_staff:
            return ("is_active",)
        rights = ("groups", "user_permissions")
        return rights if obj == request.user else ("is_active", "is_superuser", *rights)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Superusers: whoever makes operators can give them any right."""
        return request.user.is_active and request.user.is_superuser

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Players by permission, operators by superusers."""
        if isinstance(obj, Wallet) and obj.is_staff:
            return self.has_add_permission(request)
        return super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nobody."""
        return False

    def user_change_password(
        self, request: HttpRequest, id: str, form_url: str = ""
    ) -> HttpResponse:
        """Set an operator's password. A player has none: the wallet signs."""
        wallet = self.get_object(request, id)
        if wallet is not None and not wallet.is_staff:
            raise PermissionDenied
        return super().user_change_password(request, id, form_url)


# Importing Django's UserAdmin has registered its page for groups.
admin.site.unregister(Group)


@admin.register(Group)
class GroupAdmin(GrantsPermissions):
    """Rights that several operators share. Superusers write them: they could grant anything."""

    searches = (by_text("name", "name"),)
    list_display = ("name",)
    fieldsets = ((None, {"fields": ("name", "permissions")}),)
    editable = ("name", "permissions")
    nothing_here = "A group holds rights that several operators share."

    has_add_permission = WalletAdmin.has_add_permission

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Superusers."""
        return self.has_add_permission(request)

    has_delete_permission = has_change_permission


@admin.register(BearerToken)
class BearerTokenAdmin(ReadOnlyAdmin):
    """Programs that act for a player."""

    searches = (by_address("wallet__address"),)
    linked_by = ("wallet",)
    list_select_related = ("wallet",)
    list_display = (
        "name",
        to("wallet", "Wallet"),
        "scope",
        moment("created_at", "Made"),
        moment("last_used_at", "Last used"),
        moment("expires_at", "Expires"),
    )
    fieldsets = ((None, {"fields": (*list_display, "user_agent", "address_prefix")}),)
    nothing_here = "Programs get a token when a wallet logs in for one."


@admin.register(LogEntry)
class LogEntryAdmin(ReadOnlyAdmin):
    """What operators did here."""

    searches = (by_text("user__username", "operator"),)
    list_filter = ("action_flag",)
    linked_by = ("user",)
    list_select_related = ("user", "content_type")
    list_display = (
        moment("action_time", "When"),
        to("user", "Operator"),
        status("action_flag", "Did", {1: "success", 2: "warning", 3: "danger"}),
        plain("content_type.name", "What"),
        "object_repr",
        cell(lambda entry: entry.get_change_message(), "Change"),
    )
    list_display_links = ("object_repr",)
    fieldsets = ((None, {"fields": list_display}),)
    nothing_here = "Every change that an operator makes in this console is written down here."


# --- What you own -----------------------------------------------------------------------------
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
relate(Wallet, BearerToken, lambda w: not w.is_staff and {"wallet__id__exact": w.pk}, icon="key")
relate(Wallet, LogEntry, lambda w: w.is_staff and {"user__id__exact": w.pk}, icon="history")
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
relate(Group, Wallet, lambda group: {"groups__id__exact": group.pk}, icon="badge", name="operators")

# Registers its pages too; a module of its own for its length.
import wallets.ledger_admin  # noqa: E402, F401
