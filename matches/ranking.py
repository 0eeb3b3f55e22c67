"""Pages of the leaderboard."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from math import isfinite
from typing import Any

from django.db.models import Func, QuerySet, TextField, Value
from django.db.models.lookups import LessThan
from rest_framework.request import Request
from rest_framework.utils.urls import replace_query_param

from matches.models import Rating
from wallets.pagination import NewestFirst, not_our_cursor

MAX_ID = 2**63 - 1


def _row(*parts: Any) -> Func:
    return Func(*parts, function="ROW", output_field=TextField())


class ByRank(NewestFirst):
    """Best first; gives each rating its `rank`.

    A cursor says how many were before it and which was the last of them, so that no page counts or
    skips rows. There is no way back: who was before may be behind by now.
    """

    ordering = ("-rating", "-wallet_id")

    def paginate_queryset(
        self, queryset: QuerySet[Rating], request: Request, view: Any = None
    ) -> list[Rating]:
        """The page after the cursor. Raises ValidationError for one that was made up."""
        self._url = request.build_absolute_uri()
        before, size = 0, self.get_page_size(request)
        if cursor := request.query_params.get(self.cursor_query_param):
            before, rating, wallet = _decoded(cursor)
            place, last = _row("rating", "wallet_id"), _row(Value(rating), Value(wallet))
            queryset = queryset.filter(LessThan(place, last))
        rows = list(queryset.order_by(*self.ordering)[: size + 1])
        self._page, self._more = rows[:size], len(rows) > size
        for rank, row in enumerate(self._page, start=before + 1):
            row.rank = rank
        return self._page

    def get_next_link(self) -> str | None:
        """The next page, if there is one."""
        if not self._more:
            return None
        last = self._page[-1]
        text = f"{last.rank} {last.rating!r} {last.wallet_id}"
        cursor = urlsafe_b64encode(text.encode()).decode()
        return replace_query_param(self._url, self.cursor_query_param, cursor)

    def get_previous_link(self) -> None:
        """There is none."""


def _decoded(cursor: str) -> tuple[int, float, int]:
    try:
        before, score, last = urlsafe_b64decode(cursor).decode().split(" ")
        rank, rating, wallet = int(before), float(score), int(last)
    except ValueError as error:
        raise not_our_cursor() from error
    if not (0 <= rank <= MAX_ID and isfinite(rating) and 0 <= wallet <= MAX_ID):
        raise not_our_cursor()
    return rank, rating, wallet
