"""What the operators' pages cost when the tables are large, beside what they cost when small."""

import random
import statistics
import time
from http import HTTPStatus

from django.contrib import admin
from django.db import connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from bas_site.seed import SIZES, seed
from bench.report import say, show_table, stdout
from bench.server import Server
from bench.size import DEFAULT, HOST, using
from contracts.models import Deposit
from matches.models import Match
from wallets.admin_base import list_of, page_of
from wallets.models import Posting, Transfer, Wallet

RUNS = 5
ROWS = (Wallet, Deposit, Transfer, Posting, Match)
Pages = dict[str, str]


def run(server: Server) -> None:
    """Seed two databases, open each page of the console on both, and print the ratios."""
    pages = {name: _prepare(server, name) for name in SIZES}
    names = [name for name in pages["large"] if name in pages["small"]]
    found = {name: _measure(name, {size: pages[size][name] for size in SIZES}) for name in names}
    for size in SIZES:
        connections[size].close()
    show_table(
        f"The console (median of {RUNS}, in turns on one server)",
        ["", "queries, small", "queries, large", "small, ms", "large, ms", "large : small"],
        [
            [name, *map(str, queries), *(f"{1000 * s:.0f}" for s in seconds), _ratio(seconds)]
            for name, (queries, seconds) in found.items()
        ],
    )
    more = [name for name, ((small, large), _) in found.items() if large > small]
    stdout.print(f"\nPages that ask more queries of large tables: {', '.join(more) or 'none'}")


def _ratio(seconds: list[float]) -> str:
    small, large = seconds
    return f"{large / small:.2f}"


def _prepare(server: Server, size: str) -> Pages:
    """Fill a database by `manage.py seed`; the address of each page on it."""
    server.create_database(size)
    connections.settings[size] = {**connections.settings[DEFAULT], "NAME": size}
    with using(size):
        began = time.monotonic()
        seed(SIZES[size], lambda text: say(f"{size}: {time.monotonic() - began:6.1f} s  {text}"))
        # As autovacuum will have done by the time that anyone looks.
        with server.superuser(size) as connection:
            connection.execute("VACUUM ANALYZE")
        Wallet.objects.create_superuser(username="bench", password=None)
        rows = ", ".join(f"{m.objects.count():,} {m._meta.verbose_name_plural}" for m in ROWS)
        say(f"{size}: {rows}")
        return _pages()


def _pages() -> Pages:
    """Each list, a page of each, lists as a filter leaves them, searches, and the rest."""
    pages = {}
    for model in sorted(admin.site._registry, key=lambda model: model._meta.label):
        if row := model.objects.order_by("-pk").first():
            plural = str(model._meta.verbose_name_plural)
            pages |= {plural: list_of(model), f"one of the {plural}": page_of(row)}
    player = Wallet.objects.filter(is_staff=False).earliest("pk")
    deposit, match = Deposit.objects.latest("pk"), Match.objects.latest("created_at")
    search = reverse("admin:search") + "?extended=1&s="
    return pages | {
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


def _measure(name: str, urls: Pages) -> tuple[list[int], list[float]]:
    """Queries, and median seconds, of a page on each database, which take turns."""
    say(f"console: {name}")
    queries: dict[str, int] = {}
    seconds: dict[str, list[float]] = {size: [] for size in urls}
    clients = {}
    for size in urls:
        with using(size):
            clients[size] = Client(HTTP_HOST=HOST)
            clients[size].force_login(Wallet.objects.get(is_superuser=True))
    for nth in range(1 + RUNS):
        for size in random.sample(list(urls), len(urls)):
            with using(size):
                if nth == 0:
                    clients[size].get(urls[size])  # fills the caches
                    with CaptureQueriesContext(connections[DEFAULT]) as asked:
                        answer = clients[size].get(urls[size])
                    if answer.status_code != HTTPStatus.OK:
                        raise RuntimeError(f"{name}: {answer.status_code} at {urls[size]}")
                    queries[size] = len(asked)
                    continue
                started = time.perf_counter()
                clients[size].get(urls[size])
                seconds[size].append(time.perf_counter() - started)
    return [queries[size] for size in urls], [statistics.median(s) for s in seconds.values()]
