"""Ratings by Glicko-2 (Glickman, "Example of the Glicko-2 system", 2022).

A match for a stake that has a result counts: it is entered in the transaction that ends it, and
rated once, soon after. The order of rating is kept, so that the ratings can be built anew from it.
Each match is a rating period of its own, in which its two players meet once.
"""

from collections import defaultdict
from uuid import UUID

from django.db.models import Max
from glicko2.math import mu_to_rating, phi_to_rd, rating_to_mu, rd_to_phi, update_rating

from matches.logs import in_match
from matches.models import Match, RatedMatch, Rating, Seat
from wallets.db import in_transaction, lock_until_commit

# How far ratings can change in a period; Glickman's own example has the same.
TAU = 0.5
BATCH = 500


def enter(match: Match) -> None:
    """Let a match that has ended count, if it does; in the transaction that ends it."""
    if match.stake and match.status in (Match.Status.WON, Match.Status.DRAW):
        RatedMatch.objects.create(match=match)


def waiting() -> list[UUID]:
    """Matches to rate, in the order in which they ended."""
    entries = RatedMatch.objects.filter(n=None).order_by("match__ended_at", "match")
    return list(entries.values_list("match", flat=True)[:BATCH])


@in_match
def rate(*, match_id: UUID) -> bool:
    """Change both players' ratings by a match that was entered, once; whether it was waiting."""
    lock_until_commit("leaderboard")
    entry = RatedMatch.objects.select_related("match").filter(match=match_id, n=None).first()
    if entry is None:
        return False
    seats = list(entry.match.seats.all())
    ratings = defaultdict(Rating, Rating.objects.in_bulk([seat.wallet_id for seat in seats]))
    _apply(entry.match, seats, ratings)
    for rating in ratings.values():
        rating.save()
    entry.n = (RatedMatch.objects.aggregate(Max("n"))["n__max"] or 0) + 1
    entry.save()
    return True


@in_transaction
def recompute() -> int:
    """Build all ratings anew from the matches that were rated, in their order; how many."""
    lock_until_commit("leaderboard")
    Rating.objects.all().delete()
    ratings: defaultdict[int, Rating] = defaultdict(Rating)
    entries = RatedMatch.objects.filter(n__isnull=False).order_by("n").select_related("match")
    count = 0
    for entry in entries.prefetch_related("match__seats").iterator(chunk_size=BATCH):
        _apply(entry.match, list(entry.match.seats.all()), ratings)
        count += 1
    Rating.objects.bulk_create(ratings.values(), batch_size=BATCH)
    return count


def _apply(match: Match, seats: list[Seat], ratings: dict[int, Rating]) -> None:
    """Change the ratings of a match's two players, each by the other's from before the match."""
    players = [ratings[seat.wallet_id] for seat in seats]
    before = [(rating_to_mu(p.rating), rd_to_phi(p.deviation), p.volatility) for p in players]
    for seat, player, own, other in zip(seats, players, before, reversed(before), strict=True):
        score = 0.5 if not match.winner else float(match.winner == seat.side)
        mu, phi, sigma = update_rating(*own, [(*other[:2], score)], tau=TAU)
        player.wallet_id = seat.wallet_id
        player.rating, player.deviation, player.volatility = mu_to_rating(mu), phi_to_rd(phi), sigma
        player.won += score == 1
        player.lost += score == 0
        player.drawn += score == 0.5
