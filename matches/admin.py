"""The console's pages on matches.

What is locked in for the running movement has no page, nor have invitations and the server's
secret: whoever reads along here could play on what they see.
"""

import json
import re
from typing import Any, Literal

from django.contrib import admin
from django.db.models import Prefetch, Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from unfold.utils import display_for_label

from matches import battle
from matches.models import Event, Heartbeat, Match, Outage, RatedMatch, Rating, Seat
from wallets.admin_actions import HasActions, may, with_reason
from wallets.admin_base import (
    ADDRESS,
    HASH,
    ReadOnlyAdmin,
    ReadOnlyInline,
    amount,
    by_address,
    by_uuid,
    cell,
    clipped,
    code,
    moment,
    page_of,
    plain,
    relate,
    status,
    to,
)
from wallets.models import Account, Transfer, Wallet

MATCH_COLOURS = {
    Match.Status.OPEN: "info",
    Match.Status.RUNNING: "warning",
    Match.Status.WON: "success",
    Match.Status.DRAW: "primary",
    Match.Status.ABANDONED: "danger",
    Match.Status.CANCELLED: "default",
}
EVENT_COLOURS = {
    "start": "info",
    "locked": "default",
    "movement": "primary",
    "potion": "warning",
    "resign": "danger",
    "void": "danger",
}
# Said elsewhere on the page, or of use to a program only.
LEFT_OUT = frozenset(
    ("type", "match", "ruleset", "rulings", "stake", "fee_bps", "secret_hash", "commitment", "salt")
)
# Keys in the ledger, as matches/settlement.py forms them.
ESCROW = "match:{}"
TRANSFERS = ("stake:{}:a", "stake:{}:b", "release:{}")


def _players(match: Match) -> str:
    """Who plays whom, the winner marked."""
    seats = list(match.seats.all())
    return format_html_join(
        " ",
        '<span class="clipped"><a class="text-link code" href="{}" title="{}">{}</a>{}{}</span>',
        (
            (
                page_of(seat.wallet),
                seat.wallet,
                clipped(str(seat.wallet), ADDRESS),
                " ★" if seat.side == match.winner else "",
                "" if seat == seats[-1] else " vs",
            )
            for seat in seats
        ),
    )


def _said(event: Event) -> str:
    """An event's body in a line, the movement first."""

    def text(value: Any) -> str:
        if isinstance(value, dict):
            return " + ".join(str(v) for k, v in value.items() if v and k not in LEFT_OUT)
        return "nothing" if value is None else str(value)

    shown = {k: text(v) for k, v in event.body.items() if k not in LEFT_OUT}
    line = " · ".join(f"{k} {shown[k]}" for k in sorted(shown, key=lambda k: k != "movement"))
    return format_html('<span class="code">{}</span>', line)


def _match_in(key: str) -> dict[str, Any] | Literal[False]:
    """The list with the match that a key in the ledger names."""
    named = re.match("(?:stake|release|match):([0-9a-f-]{36})", key)
    return {"q": named[1]} if named else False


def _json(field: str, head: str) -> Any:
    """A JSON field in full."""

    def show(match: Match) -> str | None:
        value = getattr(match, field)
        return value and format_html('<pre class="code">{}</pre>', json.dumps(value, indent=2))

    return cell(show, head)


class SeatInline(ReadOnlyInline):
    """Who plays."""

    model = Seat
    related = ("wallet",)
    ordering = ("side",)
    fields = (
        cell(lambda seat: seat.side.upper(), "Ape"),
        to("wallet", "Wallet"),
        amount("staked", "Credits in escrow now"),
    )


class EventInline(ReadOnlyInline):
    """What happened."""

    model = Event
    ordering = ("n",)
    fields = (
        amount("n", "No."),
        cell(lambda e: display_for_label(e.body["type"], "-", EVENT_COLOURS), "What"),
        cell(_said, "In detail"),
        code("chain_hash", "Hash of the chain", keep=HASH),
        moment("created_at", "When"),
    )


@admin.register(Match)
class MatchAdmin(HasActions, ReadOnlyAdmin):
    """Matches with their seats and events. A running one may be voided, with a reason."""

    grants = ("view", "void")
    actions_detail = ("void",)

    searches = (
        by_uuid(lambda term: Q(pk=term), "match id"),
        by_address("seats__wallet__address"),
    )
    # Of the times only this one has an index.
    list_filter = ("status", "visibility", "created_at")
    linked_by = ("seats__wallet", "id")
    ordering = ("-created_at",)
    list_display = (
        code("id", "Match", keep=(8, 4)),
        status("status", "Status", MATCH_COLOURS),
        cell(_players, "Players"),
        amount("stake", "Stake"),
        "ended_by",
        moment("created_at", "Made"),
    )
    fieldsets = (
        (
            None,
            {
                "fields": (
                    code("id", "Match"),
                    status("status", "Status", MATCH_COLOURS),
                    cell(lambda m: f"ape {m.winner.upper()}" if m.winner else None, "Winner"),
                    plain("ended_by", "Ended by"),
                    plain("void_reason", "Why it was voided"),
                    plain("stage", "Stage"),
                    moment("deadline", "Deadline"),
                )
            },
        ),
        (
            "Terms",
            {
                "fields": (
                    amount("stake", "Stake of each"),
                    cell(lambda m: f"{m.fee_bps / 100:g} % of the pot", "House fee"),
                    plain("house_ape", "Practice against"),
                    "visibility",
                    "ruleset",
                    cell(lambda m: f"{m.lock_seconds} s", "Time to lock in"),
                    cell(lambda m: f"{m.reveal_seconds} s", "Time to reveal"),
                    moment("created_at", "Made"),
                    moment("started_at", "Started"),
                    moment("ended_at", "Ended"),
                )
            },
        ),
        (
            "Proofs and state",
            {
                "classes": ("collapse",),
                "fields": (
                    code("secret_hash", "Hash of the server's secret"),
                    code("chain_hash", "Hash of the event chain"),
                    _json("state", "The engine's state"),
                    _json("rulings", "Rulings"),
                ),
            },
        ),
    )
    inlines = (SeatInline, EventInline)
    nothing_here = "Players make matches in the lobby."

    has_void_permission = may("matches.void_match")

    @with_reason(
        "Void",
        permission="void",
        icon="block",
        question="The match ends at once, without a winner, and both stakes go back. "
        "Both players are shown the reason.",
        possible=lambda match: match.status == Match.Status.RUNNING,
    )
    def void(self, *, operator: Wallet, row: Match, reason: str) -> None:
        """Stop it, and give both stakes back."""
        battle.void(operator=operator, match_id=row.pk, reason=reason)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Match]:
        """Matches with their players."""
        seats = Seat.objects.select_related("wallet").order_by("side")
        return super().get_queryset(request).prefetch_related(Prefetch("seats", queryset=seats))


@admin.register(Rating)
class RatingAdmin(ReadOnlyAdmin):
    """How well players play, the best first."""

    searches = (by_address("wallet__address"),)
    list_select_related = ("wallet",)
    ordering = ("-rating", "-wallet")
    list_display = (
        to("wallet", "Player", keep=ADDRESS),
        cell(lambda rating: f"{rating.rating:.0f}", "Rating"),
        cell(lambda rating: f"± {rating.deviation:.0f}", "Deviation"),
        cell(lambda rating: "yes" if rating.provisional else None, "Provisional"),
        amount("won", "Won"),
        amount("lost", "Lost"),
        amount("drawn", "Drawn"),
    )
    fieldsets = (
        (None, {"fields": (*list_display, cell(lambda r: f"{r.volatility:.6f}", "Volatility"))}),
    )
    nothing_here = "A player is written here after the first match for a stake."


@admin.register(RatedMatch)
class RatedMatchAdmin(ReadOnlyAdmin):
    """Which matches count for the ratings, in the order of rating; those that wait come first."""

    searches = (by_uuid(lambda term: Q(pk=term), "match id"),)
    list_select_related = ("match",)
    ordering = ("-n", "-pk")
    list_display = (
        to("match", "Match", text=lambda match: str(match.pk), keep=(8, 4)),
        cell(lambda rated: rated.n or "to be rated", "No."),
        moment("match.ended_at", "Ended"),
    )
    fieldsets = ((None, {"fields": list_display}),)
    nothing_here = "A match for a stake is written here when it has been won or drawn."


@admin.register(Outage)
class OutageAdmin(ReadOnlyAdmin):
    """Times in which the sweep did not run, so that no player's time counted."""

    list_display = (
        moment("began_at", "Began"),
        moment("ended_at", "Ended"),
        cell(lambda outage: str(outage.ended_at - outage.began_at).partition(".")[0], "Lasted"),
    )
    fieldsets = ((None, {"fields": list_display}),)
    nothing_here = "An outage is written here when the sweep of the matches has stood still."


@admin.register(Heartbeat)
class HeartbeatAdmin(ReadOnlyAdmin):
    """When the sweep last ran."""

    list_display = (moment("beat_at", "The sweep last ran"),)
    fieldsets = ((None, {"fields": list_display}),)
    nothing_here = "The sweep of the matches writes here each time it runs."


relate(
    Wallet, Match, lambda w: not w.is_staff and {"seats__wallet__id__exact": w.pk}, icon="swords"
)
relate(
    Wallet, Rating, lambda w: not w.is_staff and {"q": w.address}, icon="leaderboard", name="rating"
)
relate(
    Match,
    Transfer,
    lambda match: {"key__in": ",".join(key.format(match.pk) for key in TRANSFERS)},
    icon="swap_horiz",
)
relate(Match, Account, lambda m: {"q": ESCROW.format(m.pk)}, icon="lock", name="escrow account")
for row in (Transfer, Account):
    relate(row, Match, lambda r: _match_in(r.key), icon="swords", name="match")
