"""The console's first page: is it healthy, is anyone losing money?

It shows an operator what is behind the lists that this operator may see.
"""

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib import admin
from django.db.models import Min, Model
from django.http import HttpRequest
from django.utils import timezone
from django.utils.timesince import timesince

from bas_site import figures
from contracts.admin import CHAIN_COLOURS, chain_status
from contracts.models import Chain, Deposit, Redemption, Withdrawal
from contracts.selectors import (
    chains_as_read,
    credits_held,
    credits_owed,
    is_behind,
    is_silent,
    stands_still,
    withdrawals_for_operators,
    withdrawals_for_the_signer,
)
from matches.models import Heartbeat, Match, Seat
from wallets.admin_base import grouped, list_of, page_of
from wallets.models import Account, AuditRun, Service
from wallets.selectors import standing_audit
from wallets.services import paused_services

# What waits for longer than this wants somebody to look.
PATIENCE = timedelta(hours=1)


class Concern(NamedTuple):
    """Something that an operator should look at; `danger` if credits may be lost by it."""

    text: str
    url: str
    danger: bool = False


# --- What is wrong ------------------------------------------------------------------------------
def _audit() -> Iterator[Concern]:
    run = standing_audit()
    if run is None:
        yield Concern("The books have never been audited.", list_of(AuditRun))
    elif run.broken:
        yield Concern(f"The audit is {run.result}.", page_of(run), danger=True)
    elif run.unseen:
        yield Concern(f"The audit is {run.result}.", page_of(run))
    elif run.finished_at < timezone.now() - timedelta(seconds=2 * settings.AUDIT_SECONDS):
        yield Concern(f"The last audit was {_ago(run.finished_at)}.", list_of(AuditRun))


def _holdings() -> Iterator[Concern]:
    owed, held = credits_owed(), credits_held()
    if held < owed:
        short = f"The vaults hold {grouped(held)} credits' worth; {grouped(owed)} are owed."
        yield Concern(short, list_of(Chain), danger=True)


def _redemptions() -> Iterator[Concern]:
    strange = (
        Redemption.objects.exclude(trouble="")
        .filter(explanation="")
        .exclude(status=Redemption.Status.ORPHANED)
    )
    if n := strange.count():
        text = f"{grouped(n)} redemptions that the books know no reason for."
        yield Concern(text, list_of(Redemption), danger=True)


def _chains() -> Iterator[Concern]:
    for chain in chains_as_read():
        if chain.paused:
            yield Concern(f"{chain} is paused.", page_of(chain))
        elif chain.trouble:
            yield Concern(f"{chain}: {chain.trouble[:160]}", page_of(chain))
        elif chain.scanned_at is None:
            yield Concern(f"{chain} has never been looked at: is there a worker?", page_of(chain))
        elif is_silent(chain):
            text = f"{chain} was last looked at {_ago(chain.scanned_at)}: is there a worker?"
            yield Concern(text, page_of(chain))
        elif is_behind(chain):
            behind = timesince(chain.scanned_timestamp, chain.head_timestamp)
            yield Concern(
                f"{chain} is read up to {behind} before its newest block.", page_of(chain)
            )
        elif stands_still(chain):
            text = f"The newest block of {chain} is from {_ago(chain.head_timestamp)}."
            yield Concern(text, page_of(chain))


def _deposits() -> Iterator[Concern]:
    pending = Deposit.objects.filter(status=Deposit.Status.PENDING)
    oldest = pending.aggregate(oldest=Min("seen_at"))["oldest"]
    if oldest and oldest < timezone.now() - PATIENCE:
        url = list_of(Deposit, {"status__exact": Deposit.Status.PENDING})
        yield Concern(f"A deposit has been waiting for {timesince(oldest)}.", url)


def _withdrawals() -> Iterator[Concern]:
    for whom, waiting in (
        ("an operator", withdrawals_for_operators()),
        ("the signer", withdrawals_for_the_signer()),
    ):
        oldest = waiting.order_by("since").first()
        if oldest and oldest.since < timezone.now() - PATIENCE:
            text = f"A withdrawal has been waiting for {whom} for {timesince(oldest.since)}."
            yield Concern(text, list_of(Withdrawal, {"status__exact": oldest.status}))


def _sweep() -> Iterator[Concern]:
    beat = Heartbeat.objects.first()
    if beat and beat.beat_at < timezone.now() - timedelta(seconds=settings.MATCH_OUTAGE_SECONDS):
        text = f"Nobody has looked after the matches' deadlines for {timesince(beat.beat_at)}."
        yield Concern(text, list_of(Heartbeat))


def _paused() -> Iterator[Concern]:
    for service in paused_services().select_related("changed_by"):
        text = (
            f"{str(service).capitalize()} are paused by {service.changed_by}, "
            f"{_ago(service.changed_at)}: {service.pause_reason}"
        )
        yield Concern(text, page_of(service))


def _ago(moment: Any) -> str:
    return f"{timesince(moment)} ago"


# The model whose list one must be allowed to see, and what looks for concerns.
CONCERNS: tuple[tuple[type[Model], Callable[[], Iterator[Concern]]], ...] = (
    (AuditRun, _audit),
    (Account, _holdings),
    (Redemption, _redemptions),
    (Chain, _chains),
    (Deposit, _deposits),
    (Withdrawal, _withdrawals),
    (Heartbeat, _sweep),
    (Service, _paused),
)


# --- Figures --------------------------------------------------------------------------------------
def _owed() -> tuple[str, str]:
    return grouped(credits_owed()), "bought and not yet withdrawn"


def _held() -> tuple[str, str]:
    held, owed = credits_held(), credits_owed()
    beside = (
        f"{grouped(held - owed)} to spare" if held >= owed else f"{grouped(owed - held)} missing"
    )
    return grouped(held), f"by the vaults, in credits; {beside}"


def _in_play() -> tuple[str, str]:
    seats = Seat.objects.filter(staked__gt=0).count()
    return grouped(figures.in_play()), f"on {grouped(seats)} seats"


def _fees() -> tuple[str, str]:
    return grouped(figures.fees()), "credits of the house"


def _pending() -> tuple[str, str]:
    deposits, credits_ = figures.pending_deposits()
    return grouped(deposits), f"worth {grouped(credits_)} credits"


def _waiting() -> tuple[str, str]:
    withdrawals, credits_ = figures.waiting_withdrawals()
    asked = Withdrawal.objects.filter(status=Withdrawal.Status.REQUESTED).count()
    return grouped(withdrawals), f"over {grouped(credits_)} credits; {grouped(asked)} to approve"


def _live() -> tuple[str, str]:
    lobby = Match.objects.filter(status=Match.Status.OPEN, visibility=Match.Visibility.OPEN)
    return grouped(figures.running_matches()), f"running; {grouped(lobby.count())} in the lobby"


def _last_audit() -> tuple[str, str]:
    run = standing_audit()
    if run is None:
        return "none", "the books have never been audited"
    return "red" if run.broken else "green", _ago(run.finished_at)


# Title, icon, figures, and the list behind them.
CARDS: tuple[tuple[str, str, Callable[[], tuple[str, str]], type[Model], dict[str, Any]], ...] = (
    ("Credits owed", "account_balance", _owed, Account, {"kind__exact": Account.Kind.VAULT}),
    ("Credits held", "lock", _held, Chain, {}),
    ("Last audit", "fact_check", _last_audit, AuditRun, {}),
    ("Deposits waiting", "download", _pending, Deposit, {"status__exact": Deposit.Status.PENDING}),
    (
        "Withdrawals waiting",
        "upload",
        _waiting,
        Withdrawal,
        {"status__exact": Withdrawal.Status.REQUESTED},
    ),
    ("Stakes in play", "casino", _in_play, Account, {"kind__exact": Account.Kind.ESCROW}),
    ("Matches", "swords", _live, Match, {"status__exact": Match.Status.RUNNING}),
    ("Fees", "percent", _fees, Account, {"kind__exact": Account.Kind.FEES}),
)


def _chain_card(chain: Chain) -> dict[str, Any]:
    return {
        "name": str(chain),
        "url": page_of(chain),
        "status": chain_status(chain),
        "colour": CHAIN_COLOURS[chain_status(chain)],
        "behind": grouped(max(0, chain.head_block - chain.scanned_block)),
        "scanned": grouped(chain.scanned_block),
        "head": grouped(chain.head_block),
        "scanned_at": chain.scanned_at,
    }


# --- Charts ---------------------------------------------------------------------------------------
LINE, BAR = "line", "bar"
BLUE, GREEN = "var(--color-primary-600)", "#16a34a"
# Title, kind, and its series: name, figure, colour. Bars show how much a figure grew each day.
CHARTS = (
    ("Credits owed and held", LINE, (("owed", "owed", BLUE), ("held", "held", GREEN))),
    ("Stakes in play", LINE, (("credits", "in_play", BLUE),)),
    ("Fees a day", BAR, (("credits", "fees", BLUE),)),
    ("Rated matches a day", BAR, (("matches", "rated_matches", BLUE),)),
)


def _charts(hours: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    last_of_day = list({row["hour"].date(): row for row in hours}.values())
    for title, kind, series in CHARTS:
        rows = hours if kind == LINE else last_of_day[1:]
        form = "%d %b %H:00" if kind == LINE else "%d %b"
        datasets = []
        for name, figure, colour in series:
            values = [row.get(figure, 0) for row in rows]
            if kind == BAR:
                before = [row.get(figure, 0) for row in last_of_day]
                values = [now - then for now, then in zip(values, before, strict=False)]
            datasets.append(
                {
                    "label": name,
                    "data": values,
                    "borderColor": colour,
                    "backgroundColor": colour,
                    "displayYAxis": True,
                    "maxTicksXLimit": 7,
                }
            )
        data = {"labels": [row["hour"].strftime(form) for row in rows], "datasets": datasets}
        legend = [(name, colour) for name, _, colour in series]
        yield {
            "title": title,
            "component": f"unfold/components/chart/{kind}.html",
            "data": json.dumps(data),
            "legend": legend if len(series) > 1 else (),
        }


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """What is wrong, figures at a glance, and how they have been."""

    def may_see(model: type[Model]) -> bool:
        return admin.site.get_model_admin(model).has_view_permission(request)

    concerns = [each for model, look in CONCERNS if may_see(model) for each in look()]
    cards = [
        {"title": title, "icon": icon, "url": list_of(model, query), "shown": shown()}
        for title, icon, shown, model, query in CARDS
        if may_see(model)
    ]
    chains = Chain.objects.order_by("pk") if may_see(Chain) else ()
    hours = figures.by_hour() if may_see(Account) else []
    return context | {
        "concerns": sorted(concerns, key=lambda each: not each.danger),
        "cards": cards,
        "chains": [_chain_card(chain) for chain in chains],
        "charts": list(_charts(hours)) if len(hours) > 1 else (),
    }
