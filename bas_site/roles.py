"""The roles of operators, in data: groups that are there from the start.

All of them see every page of the console. A superuser may do all of it, and alone makes operators
and gives them roles.
"""

from django.contrib import admin
from django.contrib.auth.models import Group, Permission
from django.db.models import Q, QuerySet

from wallets.db import in_transaction

SUPPORT = (
    "wallets.freeze_wallet",
    "wallets.propose_adjustment",
    "matches.void_match",
)
TREASURER = (
    "contracts.decide_withdrawal",
    "contracts.explain_redemption",
    "contracts.rescan_chain",
    "wallets.propose_adjustment",
    "wallets.decide_adjustment",
    "wallets.pause_service",
    "wallets.run_auditrun",
)
# Name, and what it may do besides seeing everything.
ROLES: dict[str, tuple[str, ...]] = {
    "viewer": (),
    "support": SUPPORT,
    "treasurer": TREASURER,
    "admin": (*SUPPORT, *TREASURER, "contracts.change_chain"),
}


def views() -> set[str]:
    """The permissions to see each page of the console."""
    return {
        f"{model._meta.app_label}.view_{model._meta.model_name}" for model in admin.site._registry
    }


def permissions_of(role: str) -> QuerySet[Permission]:
    """All that a role may do."""
    wanted = Q()
    for name in views().union(ROLES[role]):
        app, codename = name.split(".")
        wanted |= Q(content_type__app_label=app, codename=codename)
    return Permission.objects.filter(wanted)


@in_transaction
def ensure_roles() -> None:
    """Make the groups of the roles, and give each its permissions, no more and no less."""
    for role in ROLES:
        group, _ = Group.objects.get_or_create(name=role)
        group.permissions.set(permissions_of(role))
