"""Reads of players: the leaderboard, and what each has done.

Who has never been rated looks just like an address that nobody has ever used. Matches by invitation
are their players' own business: nobody else is told of them, but for their part in the ratings.
"""

from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from matches import settlement
from matches.models import Match, Rating, Seat, Side
from matches.selectors import card
from wallets.models import Wallet

WITHOUT_WINNER = {
    Match.Status.DRAW: "drawn",
    Match.Status.ABANDONED: "abandoned",
    Match.Status.CANCELLED: "voided",
}
RESULTS = ("won", "lost", *WITHOUT_WINNER.values())
Reader = Wallet | AnonymousUser


def ranked() -> QuerySet[Rating]:
    """All who have been rated."""
    return Rating.objects.select_related("wallet")


def standing(rating: Rating) -> dict[str, Any]:
    """A player's rating and the matches that it rests on."""
    return {
        "address": rating.wallet.address,
        "rating": round(rating.rating),
        "deviation": round(rating.deviation),
        "provisional": rating.provisional,
        "played": rating.played,
        "won": rating.won,
        "lost": rating.lost,
        "drawn": rating.drawn,
    }


def profile(address: str) -> dict[str, Any]:
    """What is known of the player of an address."""
    rating = ranked().filter(wallet__address=address).first()
    if rating is None:
        unrated = Rating(wallet=Wallet(address=address))
        return standing(unrated) | {"since": None, "rating": None, "deviation": None}
    return standing(rating) | {"since": rating.wallet.created_at}


def history(address: str, reader: Reader) -> QuerySet[Seat]:
    """A player's seats at the matches that were played and have ended, as far as a reader sees."""
    here = Seat.objects.filter(match=OuterRef("match"), wallet=reader.pk)
    return Seat.objects.filter(
        Q(match__visibility=Match.Visibility.OPEN) | Exists(here),
        # Found first, so that the seats come out of their index in order.
        wallet=Wallet.objects.filter(address=address).first(),
        match__started_at__isnull=False,
        match__ended_at__isnull=False,
    )


def past_match(seat: Seat) -> dict[str, Any]:
    """A match that has ended, from where one of its players sat."""
    match = seat.match
    result = WITHOUT_WINNER.get(match.status, "won" if match.winner == seat.side else "lost")
    payouts, _ = settlement.shares(match)
    shown = card(match)
    return shown | {
        "side": seat.side,
        "opponent": shown["players"][Side(seat.side).other],
        "result": result,
        "payout": payouts[Side(seat.side)],
    }


def head_to_head(address: str, other: str, reader: Reader) -> dict[str, Any]:
    """How often a player has won against another, and lost and drawn, as far as a reader sees."""
    counts = (
        history(address, reader)
        .filter(match__seats__wallet__address=other)
        .exclude(wallet__address=other)
        .aggregate(
            won=Count("pk", filter=Q(match__winner=F("side"))),
            lost=Count("pk", filter=~Q(match__winner__in=["", F("side")])),
            drawn=Count("pk", filter=Q(match__status=Match.Status.DRAW)),
        )
    )
    return {"address": address, "against": other, **counts}
