"""The console as a whole: its sidebar, and its search over everything.

UNFOLD in the settings names these two functions.
"""

from typing import Any
from urllib.parse import unquote

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group
from django.db.models import Model
from django.http import HttpRequest
from django.urls import reverse
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice
from unfold.dataclasses import SearchResult

import bas_site.audit_admin  # noqa: F401 - registers its page
from contracts.models import (
    Block,
    Chain,
    Deposit,
    Node,
    Redemption,
    Rescan,
    Token,
    Vault,
    Withdrawal,
)
from matches.models import Heartbeat, Match, Outage, RatedMatch, Rating
from wallets.admin_base import list_of, page_of
from wallets.models import (
    Account,
    Adjustment,
    Asset,
    AuditRun,
    BearerToken,
    Posting,
    Seal,
    Service,
    Transfer,
    Wallet,
)

admin.site.index_title = "At a glance"
# Their own pages would show operators' secrets to each other.
admin.site.unregister([StaticDevice, TOTPDevice])
OPERATORS = {"is_staff__exact": 1}
# Group, entries: title, icon, model, filter of its list.
SIDEBAR: tuple[tuple[str, tuple[tuple[str, str, type[Model], dict[str, Any]], ...]], ...] = (
    (
        "Players",
        (
            ("Players", "person", Wallet, {"is_staff__exact": 0}),
            ("Bearer tokens", "key", BearerToken, {}),
        ),
    ),
    (
        "Money",
        (
            ("Accounts", "savings", Account, {}),
            ("Transfers", "swap_horiz", Transfer, {}),
            ("Postings", "receipt_long", Posting, {}),
            ("Deposits", "download", Deposit, {}),
            ("Withdrawals", "upload", Withdrawal, {}),
            ("Redemptions", "receipt", Redemption, {}),
            ("Assets", "toll", Asset, {}),
        ),
    ),
    (
        "Upkeep",
        (
            ("Services", "toggle_on", Service, {}),
            ("Adjustments", "balance", Adjustment, {}),
            ("Audits", "fact_check", AuditRun, {}),
            ("Seals", "verified", Seal, {}),
        ),
    ),
    (
        "Chain",
        (
            ("Chains", "link", Chain, {}),
            ("Nodes", "dns", Node, {}),
            ("Vaults", "account_balance", Vault, {}),
            ("Tokens", "paid", Token, {}),
            ("Blocks", "deployed_code", Block, {}),
            ("Rescans", "history", Rescan, {}),
        ),
    ),
    (
        "Matches",
        (
            ("Matches", "swords", Match, {}),
            ("Ratings", "leaderboard", Rating, {}),
            ("Rated matches", "format_list_numbered", RatedMatch, {}),
            ("Outages", "power_off", Outage, {}),
            ("Heartbeat", "monitor_heart", Heartbeat, {}),
        ),
    ),
    (
        "Access",
        (
            ("Operators", "badge", Wallet, OPERATORS),
            ("Groups", "group", Group, {}),
            ("Record of changes", "history", LogEntry, {}),
        ),
    ),
)
SEARCHED = (Wallet, Match, Transfer, Deposit, Withdrawal, Redemption, Account, Vault, Token)
HITS_OF_EACH = 5


def _may_see(request: HttpRequest, model: type[Model]) -> bool:
    return admin.site.get_model_admin(model).has_view_permission(request)


def sidebar(request: HttpRequest) -> list[dict[str, Any]]:
    """The lists that this operator may see, in groups."""
    groups = [
        {
            "title": title,
            "items": [
                {
                    "title": name,
                    "icon": icon,
                    "link": list_of(model, query),
                    "active": _is_open(request, model, query),
                }
                for name, icon, model, query in entries
                if _may_see(request, model)
            ],
        }
        for title, entries in SIDEBAR
    ]
    first = [_link("Dashboard", "dashboard", "admin:index", request)]
    if _may_see(request, Match) and _may_see(request, Wallet):
        first.append(_link("Fair play", "policy", "admin:fair_play", request))
    return [{"items": first}, *groups]


def _link(title: str, icon: str, view: str, request: HttpRequest) -> dict[str, Any]:
    link = reverse(view)
    return {"title": title, "icon": icon, "link": link, "active": request.path == link}


def _is_open(request: HttpRequest, model: type[Model], query: dict[str, Any]) -> bool:
    """Whether the page belongs to this list; players and operators are two lists of one model."""
    if not request.path.startswith(list_of(model)):
        return False
    query_string = unquote(request.META["QUERY_STRING"])
    of_operators = "is_staff__exact=1" in query_string or request.path.endswith("/add/")
    return model is not Wallet or of_operators == (query == OPERATORS)


def search(request: HttpRequest, term: str) -> list[SearchResult]:
    """Rows that an address, a transaction hash, a match id or a key is of."""
    found = []
    for model in SEARCHED:
        page = admin.site.get_model_admin(model)
        if not _may_see(request, model):
            continue
        rows, _ = page.get_search_results(request, page.get_queryset(request), term)
        found += [
            SearchResult(str(row), str(model._meta.verbose_name).capitalize(), page_of(row), None)
            for row in rows.order_by("-pk")[:HITS_OF_EACH]
        ]
    return found
