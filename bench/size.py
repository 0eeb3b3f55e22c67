"""What a request costs when the tables are large, beside what it costs when they are small."""

import random
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from django.db import connections
from django.utils import timezone
from rest_framework.pagination import Cursor
from rest_framework.request import Request
from rest_framework.test import APIRequestFactory

from bench.databases import HOST, in_turns, new_database, using
from bench.history import History, load
from bench.report import say, show_aim, show_table, stdout
from bench.server import Server
from wallets import ledger, selectors
from wallets.api import StatementView
from wallets.models import Account, Posting, Transfer, Wallet

SMALL_POSTINGS = 5_000
AIM = 1.2
RUNS = 300
WARM_UP = 30


@dataclass(frozen=True, slots=True)
class Database:
    """One of the two databases and what is in it."""

    name: str
    history: History
    vault: Account
    busy: Wallet
    quiet: Wallet
    middle: datetime
    # The query of a page half-way through the busy player's history.
    deep: str

    def anyone(self) -> Wallet:
        """A player at random."""
        return Wallet(pk=random.randint(History.OTHERS, self.history.players))

    def account(self) -> Account:
        """A player's account at random."""
        return Account(pk=self.busy_account + random.randint(2, self.history.players - 1))

    @property
    def busy_account(self) -> int:
        """The id of the busy player's account; the others' follow."""
        return self.vault.pk + 1


def transfer(database: Database) -> None:
    """Move a credit from one player to another."""
    source, target = database.account(), database.account()
    while source.pk == target.pk:
        target = database.account()
    ledger.move(
        kind=Transfer.Kind.ADJUSTMENT,
        key=f"bench:{uuid.uuid4()}",
        source=source,
        target=target,
        amount=1,
    )


def page(wallet: Wallet, query: str = "") -> list[Posting]:
    """Read a page of a statement as the API does."""
    paginator = StatementView.pagination_class()
    request = Request(APIRequestFactory().get(f"/?{query}", HTTP_HOST=HOST))
    return paginator.paginate_queryset(selectors.statement(wallet), request)


# What is measured, by the name it is printed with.
REQUESTS: dict[str, Callable[[Database], object]] = {
    "transfer": transfer,
    "balance of a player": lambda database: selectors.credits_of(database.anyone()),
    "balance of a system account": lambda database: ledger.balance(database.vault),
    "balance at a moment": lambda database: ledger.balance_at(database.account(), database.middle),
    "statement, first page": lambda database: page(database.busy),
    "statement, a page deep in history": lambda database: page(database.busy, database.deep),
    "statement of a player long quiet": lambda database: page(database.quiet),
}


def run(server: Server, *, postings: int) -> None:
    """Fill two databases, measure, and print the ratios."""
    small = _prepare(server, "small", SMALL_POSTINGS)
    large = _prepare(server, "large", postings)
    times = {name: _measure(name, request, small, large) for name, request in REQUESTS.items()}
    for database in (small, large):
        connections[database.name].close()
    ratios = {name: in_large / in_small for name, (in_small, in_large) in times.items()}
    show_table(
        f"Cost at size (median of {RUNS}, in turns on one server)",
        ["", f"{SMALL_POSTINGS:,} postings, ms", f"{postings:,} postings, ms", "large : small"],
        [
            [name, f"{1000 * in_small:.2f}", f"{1000 * in_large:.2f}", f"{ratios[name]:.2f}"]
            for name, (in_small, in_large) in times.items()
        ],
    )
    worst = max(ratios, key=ratios.__getitem__)
    stdout.print()
    show_aim(
        f"no more than {AIM} times the cost at {postings // SMALL_POSTINGS:,} times the size",
        worst,
        ratios[worst],
        met=ratios[worst] <= AIM,
    )


def _prepare(server: Server, name: str, postings: int) -> Database:
    say(f"size: creating the {name} database")
    new_database(server, name)
    with using(name):
        vault = ledger.system_account(Account.Kind.VAULT)
        with server.superuser(name) as connection:
            history = load(connection, vault=vault.pk, postings=postings)
        busy = Wallet.objects.get(pk=History.BUSY)
        return Database(
            name=name,
            history=history,
            vault=vault,
            busy=busy,
            quiet=Wallet.objects.get(pk=History.QUIET),
            middle=timezone.now() - timedelta(seconds=postings // 4),
            deep=_deep(busy),
        )


def _deep(wallet: Wallet) -> str:
    """The query of a page in the middle of a player's history."""
    paginator = StatementView.pagination_class()
    statement = selectors.statement(wallet)
    ordering = paginator.get_ordering(
        Request(APIRequestFactory().get("/", HTTP_HOST=HOST)), statement, None
    )
    postings = statement.order_by(*ordering)
    middle = postings[postings.count() // 2]
    position = str(getattr(middle, ordering[0].removeprefix("-")))
    paginator.base_url = ""
    return paginator.encode_cursor(Cursor(offset=0, reverse=False, position=position)).lstrip("?")


def _measure(
    name: str, request: Callable[[Database], object], small: Database, large: Database
) -> list[float]:
    """Median seconds in the small and in the large database, which take turns."""
    say(f"size: {name}")
    requests = {database.name: partial(request, database) for database in (small, large)}
    return in_turns(requests, runs=RUNS, warm_up=WARM_UP)
