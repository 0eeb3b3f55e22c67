"""The console as a whole: its sidebar, its first page, and its search over everything.

UNFOLD in the settings names these three functions.
"""

from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group
from django.db.models import Count, Model, Sum
from django.http import HttpRequest
from django.urls import reverse
from unfold.dataclasses import SearchResult

import bas_site.audit_admin  # noqa: F401 - registers its page
from contracts.admin import CHAIN_COLOURS, chain_status
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
from matches.models import Heartbeat, Match, Outage, Seat
from wallets.admin_base import grouped, list_of, page_of
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
from wallets.selectors import system_credits
from wallets.services import paused_services

admin.site.index_title = "At a glance"
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
    home = reverse("admin:index")
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
    dashboard = {"title": "Dashboard", "icon": "dashboard", "link": home}
    return [{"items": [dashboard | {"active": request.path == home}]}, *groups]


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


# --- The first page ---------------------------------------------------------------------------
def _owed() -> tuple[str, str]:
    return grouped(-system_credits(Account.Kind.VAULT)), "bought and not yet withdrawn"


def _fees() -> tuple[str, str]:
    return grouped(system_credits(Account.Kind.FEES)), "credits of the house"


def _in_play() -> tuple[str, str]:
    staked = Seat.objects.filter(staked__gt=0).aggregate(seats=Count("pk"), credits=Sum("staked"))
    return grouped(staked["credits"] or 0), f"on {grouped(staked['seats'])} seats"


def _pending() -> tuple[str, str]:
    pending = Deposit.objects.filter(status=Deposit.Status.PENDING)
    found = pending.aggregate(deposits=Count("pk"), credits=Sum("credits"))
    return grouped(found["deposits"]), f"worth {grouped(found['credits'] or 0)} credits"


def _to_approve() -> tuple[str, str]:
    asked = Withdrawal.objects.filter(status=Withdrawal.Status.REQUESTED)
    found = asked.aggregate(withdrawals=Count("pk"), credits=Sum("credits"))
    return grouped(found["withdrawals"]), f"over {grouped(found['credits'] or 0)} credits"


def _live() -> tuple[str, str]:
    running = Match.objects.filter(status=Match.Status.RUNNING).count()
    lobby = Match.objects.filter(status=Match.Status.OPEN, visibility=Match.Visibility.OPEN)
    return grouped(running), f"running; {grouped(lobby.count())} open in the lobby"


# Title, icon, figures, and the list behind them. An index answers each of them.
CARDS: tuple[tuple[str, str, Callable[[], tuple[str, str]], type[Model], dict[str, Any]], ...] = (
    ("Credits owed", "account_balance", _owed, Account, {"kind__exact": Account.Kind.VAULT}),
    ("Stakes in play", "lock", _in_play, Account, {"kind__exact": Account.Kind.ESCROW}),
    ("Fees", "percent", _fees, Account, {"kind__exact": Account.Kind.FEES}),
    ("Deposits waiting", "download", _pending, Deposit, {"status__exact": Deposit.Status.PENDING}),
    (
        "Withdrawals to approve",
        "upload",
        _to_approve,
        Withdrawal,
        {"status__exact": Withdrawal.Status.REQUESTED},
    ),
    ("Matches", "swords", _live, Match, {"status__exact": Match.Status.RUNNING}),
)


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Figures at a glance, those whose lists this operator may see."""
    cards = []
    for title, icon, figures, model, query in CARDS:
        if _may_see(request, model):
            value, note = figures()
            url = list_of(model, query)
            cards.append({"title": title, "icon": icon, "value": value, "note": note, "url": url})
    chains = [
        {
            "name": str(chain),
            "url": page_of(chain),
            "status": chain_status(chain),
            "colour": CHAIN_COLOURS[chain_status(chain)],
            "trouble": chain.trouble,
            "behind": grouped(max(0, chain.head_block - chain.scanned_block)),
            "scanned": grouped(chain.scanned_block),
            "head": grouped(chain.head_block),
            "scanned_at": chain.scanned_at,
        }
        for chain in (Chain.objects.order_by("pk") if _may_see(request, Chain) else ())
    ]
    paused = paused_services().select_related("changed_by") if _may_see(request, Service) else ()
    return context | {"cards": cards, "chains": chains, "paused": paused}
