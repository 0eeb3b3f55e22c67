"""What a player takes away: statements as files, CSV (RFC 4180) or JSON lines, oldest line first;
and the wallets' part of the export of all of a player's data.
"""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator
from types import MappingProxyType
from typing import Any

from django.db.models import QuerySet

from wallets import selectors
from wallets.models import Posting, Wallet
from wallets.serializers import LoginRowSerializer

COLUMNS = ("id", "created_at", "kind", "cause", "memo", "amount", "balance")
# Rows that are fetched at once: a statement of any length takes the same memory.
CHUNK_ROWS = 2_000
Line = dict[str, str | int]
Rows = list[dict[str, Any]]


def in_batches(
    queryset: QuerySet[Any], *, by: str = "pk", size: int = CHUNK_ROWS
) -> Iterator[list[Any]]:
    """All rows in ascending order of a unique column, so many at once.

    Each batch is a query of its own that begins after the row before, so that nothing is held in
    the database between two of them.
    """
    rest = queryset.order_by(by)
    while batch := list(rest[:size]):
        yield batch
        rest = queryset.order_by(by).filter(**{f"{by}__gt": getattr(batch[-1], by)})


def own_statement(wallet: Wallet) -> Iterator[Rows]:
    """A player's statement, for the export."""
    for postings in in_batches(selectors.statement(wallet), by="version"):
        yield [_line(posting) for posting in postings]


def own_logins(wallet: Wallet) -> Iterator[Rows]:
    """A player's sessions and tokens, for the export, at once: there are never many."""
    if logins := selectors.logins_of(wallet, current=None):
        yield list(LoginRowSerializer(logins, many=True).data)


def lines(wallet: Wallet) -> Iterator[Line]:
    """A player's statement, line by line; amounts and balances in credits."""
    postings = selectors.statement(wallet).order_by("version")
    return map(_line, postings.iterator(chunk_size=CHUNK_ROWS))


def _line(posting: Posting) -> Line:
    return {
        "id": posting.pk,
        "created_at": posting.transfer.created_at.isoformat(),
        "kind": posting.transfer.kind,
        "cause": posting.transfer.key,
        "memo": posting.transfer.memo,
        "amount": posting.amount,
        "balance": posting.balance,
    }


def as_csv(rows: Iterable[Line]) -> Iterator[str]:
    """Each row as a line of CSV, after a line of column names."""
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, COLUMNS)
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _harmless(value) for name, value in row.items()})
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
    yield buffer.getvalue()


def _harmless(value: str | int) -> str | int:
    """Text that a spreadsheet would take for a formula, marked as text (OWASP, CSV injection)."""
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t\r" and value else value


def as_json(rows: Iterable[Line]) -> Iterator[str]:
    """Each row as a JSON object on a line of its own."""
    return (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


FORMATS: MappingProxyType[str, tuple[str, Callable[[Iterable[Line]], Iterator[str]]]] = (
    MappingProxyType({"csv": ("text/csv", as_csv), "json": ("application/x-ndjson", as_json)})
)
