"""The console's pages on who you are: players and operators, their groups, tokens and record."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group, Permission
from django.core.exceptions import PermissionDenied
from django.db.models import ManyToManyField, Model, OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from unfold.forms import AdminPasswordChangeForm, UserCreationForm
from unfold.utils import display_for_label
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from wallets.accounts import freeze_wallet, thaw_wallet
from wallets.admin_actions import HasActions, may, with_reason
from wallets.admin_base import (
    ConsoleAdmin,
    ReadOnlyAdmin,
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
from wallets.models import Account, BearerToken, Wallet
from wallets.second_factor import reset_second_factor
from wallets.selectors import HOLDINGS


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


def _state(wallet: Wallet) -> str:
    state = "active" if wallet.is_active else "frozen"
    return display_for_label(state, "-", {"active": "success", "frozen": "danger"})


def _password(operator: Wallet) -> str:
    link = reverse("admin:auth_user_password_change", args=[operator.pk])
    return format_html('<a class="text-link" href="{}">Set another</a>', link)


def _credits(wallet: Wallet) -> str | None:
    if wallet.available is None:
        return None
    held = {"available": wallet.available, **{n: of(wallet) for n, of in HOLDINGS.items()}}
    return " · ".join(f"{grouped(n)} {name.replace('_', ' ')}" for name, n in held.items())


@admin.register(Wallet)
class WalletAdmin(HasActions, GrantsPermissions, UserAdmin):
    """Players, who may be frozen and thawed again, and operators, whom superusers make.

    Nobody is deleted: what an operator did and what a player owns must stay somebody's.
    """

    form = forms.ModelForm
    add_form = OperatorForm
    change_password_form = AdminPasswordChangeForm
    change_user_password_template = None
    filter_horizontal = ()
    grants = ("view", "freeze")
    actions_detail = ("freeze", "thaw", "reset")
    searches = (by_address("address"), by_number("pk", "number"), by_text("username", "username"))
    list_filter = ("is_staff", "is_active")
    linked_by = ("groups",)
    list_display = (
        "__str__",
        cell(_role, "Role"),
        amount("available", "Available credits"),
        cell(_state, "State"),
        moment("created_at", "Since"),
    )
    fieldsets_of_player = (
        (
            None,
            {
                "fields": (
                    code("address", "Address"),
                    cell(_credits, "Credits"),
                    cell(_state, "State"),
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
        """An operator's rights, but never one's own."""
        if obj is None:
            return ("username", "password1", "password2")
        rights = ("groups", "user_permissions")
        return rights if obj == request.user else ("is_active", "is_superuser", *rights)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Superusers: whoever makes operators can give them any right."""
        return request.user.is_active and request.user.is_superuser

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Operators, by superusers; of players nothing is changed but by an action."""
        is_player = isinstance(obj, Wallet) and not obj.is_staff
        return not is_player and self.has_add_permission(request)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nobody."""
        return False

    has_freeze_permission = may("wallets.freeze_wallet")

    @with_reason(
        "Freeze",
        permission="freeze",
        icon="ac_unit",
        question="The player is logged out everywhere, and can't log in, stake or withdraw. "
        "Matches that run go on by their clocks, and may be lost by them: void those first that "
        "should not.",
        possible=lambda wallet: wallet.is_active and not wallet.is_staff,
    )
    def freeze(self, *, operator: Wallet, row: Wallet, reason: str) -> None:
        """Shut a player out."""
        freeze_wallet(operator=operator, wallet_id=row.pk)

    @with_reason(
        "Thaw",
        permission="freeze",
        icon="sunny",
        question="The player may log in, stake and withdraw again.",
        possible=lambda wallet: not (wallet.is_active or wallet.is_staff),
    )
    def thaw(self, *, operator: Wallet, row: Wallet, reason: str) -> None:
        """Let a player in again."""
        thaw_wallet(operator=operator, wallet_id=row.pk)

    def has_reset_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        """Superusers."""
        return self.has_add_permission(request)

    @with_reason(
        "Reset second factor",
        permission="reset",
        icon="phonelink_erase",
        question="The operator is logged out everywhere, the app and the recovery codes are void, "
        "and the next login sets an app up. Make sure that it is the operator who asks.",
        possible=lambda wallet: wallet.is_staff,
    )
    def reset(self, *, operator: Wallet, row: Wallet, reason: str) -> None:
        """Let an operator who has lost the app set another up."""
        reset_second_factor(superuser=operator, operator_id=row.pk)

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


relate(Wallet, BearerToken, lambda w: not w.is_staff and {"wallet__id__exact": w.pk}, icon="key")
relate(Wallet, LogEntry, lambda w: w.is_staff and {"user__id__exact": w.pk}, icon="history")
relate(Group, Wallet, lambda group: {"groups__id__exact": group.pk}, icon="badge", name="operators")

# They register pages too; modules of their own for their length.
import wallets.books_admin  # noqa: E402
import wallets.ledger_admin  # noqa: E402
import wallets.services_admin  # noqa: E402, F401
