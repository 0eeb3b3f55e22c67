"""A player's own matches, for the export of the player's data."""

from collections.abc import Iterator

from django.db.models import Prefetch

from matches.models import Event, Seat
from matches.selectors import card
from wallets.export import Rows, in_batches
from wallets.models import Wallet

# Of matches, each of which may have hundreds of movements.
BATCH = 50


def own_matches(wallet: Wallet) -> Iterator[Rows]:
    """Every match that a player sat at, with the player's choices in all movements that are over.

    What is locked in for the running one is in no event yet, and so not in here.
    """
    movements = Event.objects.filter(body__type="movement").order_by("n")
    seats = wallet.seats.select_related("match").prefetch_related(
        "match__seats__wallet", Prefetch("match__events", movements, to_attr="movements")
    )
    for batch in in_batches(seats, size=BATCH):
        yield [card(seat.match) | {"you": seat.side, "choices": _choices(seat)} for seat in batch]


def _choices(seat: Seat) -> Rows:
    """The player's choice in each movement that is over; null for one that was missed."""
    bodies = (event.body for event in seat.match.movements)
    return [
        {
            "movement": body["movement"],
            "choice": (choice := body[seat.side])
            and {"move": choice["move"], "tribute": choice["tribute"]},
        }
        for body in bodies
    ]
