"""What the operators' pages cost when the tables are large, beside what they cost when small."""

import time
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Any

from django.contrib import admin
from django.db import connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from bas_site.seed import SIZES, seed
from bench.databases import HOST, in_turns, new_database, using
from bench.report import say, show_table, stdout
from bench.server import Server
from contracts.models import Deposit
from matches.models import Match
from wallets.admin_base import list_of, page_of
from wallets.models import Posting, Transfer, Wallet

RUNS = 5
ROWS = (Wallet, Deposit, Transfer, Posting, Match)
# Opens a page of the console, as an operator.
Page = Callable[[], Any]


def run(server: Server) -> None:
    """Seed two databases, open each page of the console on both, and print the ratios."""
    consoles = {size: _prepare(server, size) for size in SIZES}
    rows, more = [], []
    for name in consoles["small"]:
        say(f"console: {name}")
        pages = {size: pages[name] for size, pages in consoles.items()}
        queries = {size: _queries(size, page) for size, page in pages.items()}
        small, large = in_turns(pages, runs=RUNS, warm_up=0)
        times = [f"{1000 * small:.0f}", f"{1000 * large:.0f}", f"{large / small:.2f}"]
        rows.append([name, *map(str, queries.values()), *times])
        if queries["large"] > queries["small"]:
            more.append(name)
    for size in SIZES:
        connections[size].close()
    show_table(
        f"The console (median of {RUNS}, in turns on one server)",
        ["", "queries, small", "queries, large", "small, ms", "large, ms", "large : small"],
        rows,
    )
    stdout.print(f"\nPages that ask more queries of large tables: {', '.join(more) or 'none'}")


def _prepare(server: Server, size: str) -> dict[str, Page]:
    """Fill a database by `manage.py seed`; each page of the console on it."""
    new_database(server, size)
    with using(size):
        began = time.monotonic()
        seed(SIZES[size], lambda text: say(f"{size}: {time.monotonic() - began:6.1f} s  {text}"))
        # As autovacuum will have done by the time that anyone looks.
        with server.superuser(size) as superuser:
            superuser.execute("VACUUM ANALYZE")
        operator = Client(HTTP_HOST=HOST)
        operator.force_login(Wallet.objects.create_superuser(username="bench", password=None))
        rows = ", ".join(f"{m.objects.count():,} {m._meta.verbose_name_plural}" for m in ROWS)
        say(f"{size}: {rows}")
        return {name: partial(operator.get, url) for name, url in _urls().items()}


def _queries(size: str, page: Page) -> int:
    """How many queries a page asks, when what is kept from one request to the next is there."""
    with using(size):
        page()
        with CaptureQueriesContext(connections[size]) as asked:
            answer = page()
    if answer.status_code != HTTPStatus.OK:
        raise RuntimeError(f"{answer.status_code} at {answer.request['PATH_INFO']}")
    return len(asked)


def _urls() -> dict[str, str]:
    """Each list, a page of each, lists as a filter leaves them, searches, and the rest."""
    urls = {}
    for model in sorted(admin.site._registry, key=lambda model: model._meta.label):
        if row := model.objects.order_by("-pk").first():
            plural = str(model._meta.verbose_name_plural)
            urls |= {plural: list_of(model), f"one of the {plural}": page_of(row)}
    player = Wallet.objects.filter(is_staff=False).earliest("pk")
    deposit, match = Deposit.objects.latest("pk"), Match.objects.latest("created_at")
    search = reverse("admin:search") + "?extended=1&s="
    return urls | {
        "a player": page_of(player),
        "a player's postings": list_of(
            Posting, {"account__wallet__id__exact": player.pk, "version__isnull": 0}
        ),
        "a player's deposits": list_of(Deposit, {"wallet__id__exact": player.pk}),
        "a player's matches": list_of(Match, {"seats__wallet__id__exact": player.pk}),
        "pending deposits": list_of(Deposit, {"status__exact": Deposit.Status.PENDING}),
        "stakes": list_of(Transfer, {"kind__exact": Transfer.Kind.STAKE}),
        "matches won": list_of(Match, {"status__exact": Match.Status.WON}),
        "search by an address": search + player.address,
        "search by a transaction hash": search + deposit.tx_hash,
        "search by a match": search + str(match.pk),
        "fair play": reverse("admin:fair_play"),
        "sessions": reverse("admin:sessions"),
        "the first page": reverse("admin:index"),
    }
