"""Everything that is kept about a player, for the player: each room gives its part."""

import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Any

from asgiref.sync import sync_to_async
from django.db import close_old_connections
from django.http import StreamingHttpResponse
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.utils.encoders import JSONEncoder
from rest_framework.views import APIView

from contracts.selectors import own_deposits, own_withdrawals
from matches.own_data import own_matches
from matches.players import profile
from wallets.export import Rows, own_logins, own_statement
from wallets.models import Wallet
from wallets.serializers import WalletSerializer

LISTS: dict[str, Callable[[Wallet], Iterable[Rows]]] = {
    "logins": own_logins,
    "statement": own_statement,
    "deposits": own_deposits,
    "withdrawals": own_withdrawals,
    "matches": own_matches,
}


def written(wallet: Wallet) -> Iterator[str]:
    """The export as JSON, piece by piece; nothing is read before its piece is asked for."""
    yield f'{{"wallet": {_json(WalletSerializer(wallet).data)}'
    yield f', "record": {_json(profile(wallet.address))}'
    for name, batches in LISTS.items():
        yield f', "{name}": ['
        between = ""
        for rows in batches(wallet):
            yield between + ",\n".join(map(_json, rows))
            between = ",\n"
        yield "]"
    yield "}\n"


def _json(value: Any) -> str:
    return json.dumps(value, cls=JSONEncoder, ensure_ascii=False)


async def _streamed(wallet: Wallet) -> AsyncIterator[str]:
    """The pieces, each read in a thread; between two, no connection to the database is held."""
    pieces = written(wallet)

    def next_piece() -> str:
        try:
            return next(pieces, "")
        finally:
            close_old_connections()

    while piece := await sync_to_async(next_piece)():
        yield piece


class ExportView(APIView):
    """All that we keep about you."""

    @extend_schema(
        tags=["auth"],
        responses={(200, "application/json"): OpenApiResponse(dict, "A JSON object.")},
    )
    def get(self, request: Request) -> StreamingHttpResponse:
        """Your wallet, logins, statement, deposits, withdrawals, record and matches, as one file.

        Lists are oldest first, but for `logins`. The same objects as in the other calls; only
        `matches` have more in them, all your `choices`.
        """
        return StreamingHttpResponse(
            _streamed(request.user),
            content_type="application/json",
            headers={
                "Content-Disposition": 'attachment; filename="block-ape-scissors.json"',
                "Cache-Control": "no-store",
            },
        )
