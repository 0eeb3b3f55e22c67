"""How fast the ledger posts, beside the bare row writes and beside plain Django."""

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from multiprocessing.pool import Pool

from bench.report import say, show_aim, show_table, stdout
from bench.server import Server
from bench.tables import FLOOR, ORM, OURS, add_matches, make_tables
from bench.workloads import (
    HOT,
    SETTLEMENTS,
    SPREAD,
    WORKLOADS,
    Place,
    Workload,
    floor_script,
    ours_script,
)

AIM_OF_FLOOR, AIM_HOT, AIM_OF_ORM = 0.7, 0.9, 4.0
# How many matches are prepared: a settlement writes more rows than a transfer between two players,
# so it is never this much faster.
MATCHES_PER_SPREAD_TRANSFER = 2
# What the clients' warm-up and a slow spell during the spread transfers may add.
SPARE_MATCHES = 200


@dataclass(frozen=True)
class Side:
    """A way to post: on whose tables, and how to run it."""

    name: str
    schema: str
    run: Callable[["Bench", Workload, Place, int], float]
    workloads: tuple[Workload, ...] = WORKLOADS


@dataclass
class Bench:
    """One run: where it happens, how long it takes, and what was measured, by round."""

    server: Server
    pool: Pool
    seconds: int
    rounds: int
    places: dict[str, Place]
    speeds: dict[tuple[str, str, int], list[float]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def pgbench(self, script: str, clients: int, *, without_triggers: bool = False) -> float:
        """Run a script as the application's role, or as the superuser with no trigger firing."""
        from bench.clients import WITHOUT_TRIGGERS, pgbench

        return pgbench(
            script,
            url=self.server.url("postgres" if without_triggers else "bas_app"),
            clients=clients,
            seconds=self.seconds,
            options=WITHOUT_TRIGGERS if without_triggers else "",
        )

    def python(self, workload: Workload, place: Place, clients: int) -> float:
        """Run Python processes."""
        from bench.clients import run_python_clients

        return run_python_clients(
            self.pool, workload.name, place, clients=clients, seconds=self.seconds
        )

    def speed(self, side: Side, workload: Workload, clients: int) -> float:
        """The median of a cell."""
        return statistics.median(self.speeds[side.name, workload.name, clients])

    def ratio(self, side: Side, base: Side, workload: Workload, clients: int) -> float:
        """The median of the rounds' ratios: what slows a whole round down cancels out."""
        return _ratio(
            self.speeds[side.name, workload.name, clients],
            self.speeds[base.name, workload.name, clients],
        )

    def hot_to_spread(self, clients: int) -> float:
        """How fast the ledger posts to one hot payee, as a ratio to spread accounts."""
        return _ratio(
            self.speeds[OURS_SQL.name, HOT.name, clients],
            self.speeds[OURS_SQL.name, SPREAD.name, clients],
        )


def _ratio(speeds: Iterable[float], bases: Iterable[float]) -> float:
    return statistics.median(a / b for a, b in zip(speeds, bases, strict=True))


FLOOR_SQL = Side(
    "floor", FLOOR, lambda bench, load, place, n: bench.pgbench(floor_script(load, place), n)
)
FLOOR_AT_ONCE = Side(
    "floor, one round trip",
    FLOOR,
    lambda bench, load, place, n: bench.pgbench(floor_script(load, place, one_round_trip=True), n),
)
FLOOR_NAIVE = Side(
    "floor, hot row updated",
    FLOOR,
    lambda bench, load, place, n: bench.pgbench(floor_script(load, place, naive=True), n),
    workloads=(HOT,),
)
OURS_SQL = Side(
    "ours", OURS, lambda bench, load, place, n: bench.pgbench(ours_script(load, place), n)
)
OURS_UNCHECKED = Side(
    "ours, triggers off",
    OURS,
    lambda bench, load, place, n: bench.pgbench(ours_script(load, place), n, without_triggers=True),
)
ORM_PYTHON = Side("ORM in Python", ORM, Bench.python)
OURS_PYTHON = Side("ours in Python", OURS, Bench.python)
# In the order they take turns: what is compared with each other runs one after the other.
SIDES = (
    FLOOR_SQL,
    OURS_SQL,
    FLOOR_AT_ONCE,
    OURS_UNCHECKED,
    FLOOR_NAIVE,
    ORM_PYTHON,
    OURS_PYTHON,
)


def run(server: Server, *, seconds: int, rounds: int, clients: tuple[int, ...]) -> None:
    """Measure everything and print it."""
    from bench.clients import python_clients

    say("Copying and filling the tables.")
    places = make_tables(server)
    with python_clients(max(clients)) as pool:
        bench = Bench(server, pool, seconds, rounds, places)
        for count in clients:
            for turn in range(1, rounds + 1):
                for workload in WORKLOADS:
                    say(f"ledger: {workload.name}, {count} clients, round {turn} of {rounds}")
                    _take_turns(bench, workload, count)
    _show(bench, clients)


def _take_turns(bench: Bench, workload: Workload, clients: int) -> None:
    for side in SIDES:
        if workload in side.workloads:
            place = bench.places[side.schema]
            if workload.uses_matches:
                fastest = bench.speeds[side.name, SPREAD.name, clients][-1]
                each = MATCHES_PER_SPREAD_TRANSFER * fastest * bench.seconds / clients
                place = add_matches(
                    bench.server, place, clients=clients, each=math.ceil(each) + SPARE_MATCHES
                )
            speed = side.run(bench, workload, place, clients)
            bench.speeds[side.name, workload.name, clients].append(speed)


def _show(bench: Bench, clients: tuple[int, ...]) -> None:
    show_table(
        f"Transfers a second ({bench.rounds} rounds of {bench.seconds} s a cell; medians)",
        [
            "workload",
            "clients",
            "floor /s",
            "ours /s",
            "of the floor",
            "floor in one round trip",
            "triggers off",
            "ORM /s",
            "ours in Python /s",
            "times the ORM",
            "hot : spread",
        ],
        [_row(bench, workload, count) for workload in WORKLOADS for count in clients],
    )
    show_table(
        "One hot payee, beside a floor that updates the payee's own row",
        ["clients", "naive floor /s", "ours /s", "times the naive floor"],
        [
            [
                str(count),
                f"{bench.speed(FLOOR_NAIVE, HOT, count):,.0f}",
                f"{bench.speed(OURS_SQL, HOT, count):,.0f}",
                f"{bench.ratio(OURS_SQL, FLOOR_NAIVE, HOT, count):.2f}",
            ]
            for count in clients
        ],
    )
    _judge(bench, clients)


def _row(bench: Bench, workload: Workload, clients: int) -> list[str]:
    def ratio(side: Side, base: Side) -> str:
        return f"{bench.ratio(side, base, workload, clients):.2f}"

    def speed(side: Side) -> str:
        return f"{bench.speed(side, workload, clients):,.0f}"

    return [
        workload.name,
        str(clients),
        speed(FLOOR_SQL),
        speed(OURS_SQL),
        ratio(OURS_SQL, FLOOR_SQL),
        ratio(OURS_SQL, FLOOR_AT_ONCE),
        ratio(OURS_UNCHECKED, FLOOR_SQL),
        speed(ORM_PYTHON),
        speed(OURS_PYTHON),
        ratio(OURS_PYTHON, ORM_PYTHON),
        f"{bench.hot_to_spread(clients):.2f}" if workload is HOT else "",
    ]


def _judge(bench: Bench, clients: tuple[int, ...]) -> None:
    cells = [(workload, count) for workload in WORKLOADS for count in clients]
    of_floor = {
        (workload, count): bench.ratio(OURS_SQL, FLOOR_SQL, workload, count)
        for workload, count in cells
        if workload is not SETTLEMENTS
    }
    of_orm = {
        (workload, count): bench.ratio(OURS_PYTHON, ORM_PYTHON, workload, count)
        for workload, count in cells
    }
    hot = {(HOT, count): bench.hot_to_spread(count) for count in clients}
    stdout.print()
    _show_aim(f"spread and hot at {AIM_OF_FLOOR} of the floor", of_floor, AIM_OF_FLOOR)
    _show_aim(f"hot no slower than {AIM_HOT} of spread", hot, AIM_HOT)
    _show_aim(f"{AIM_OF_ORM:.0f} times the ORM", of_orm, AIM_OF_ORM)
    for (workload, count), ratio in of_floor.items():
        if ratio < AIM_OF_FLOOR:
            unchecked = bench.ratio(OURS_UNCHECKED, OURS_SQL, workload, count)
            stdout.print(
                f"  {_where(workload, count)}: {ratio:.2f} of the floor; with the triggers off it "
                f"would be {unchecked:.2f} times as fast, which is what the checks cost"
            )
    for (workload, count), ratio in of_orm.items():
        if ratio < AIM_OF_ORM:
            python = bench.speed(OURS_PYTHON, workload, count)
            server = bench.speed(OURS_SQL, workload, count)
            stdout.print(
                f"  {_where(workload, count)}: {ratio:.2f} times the ORM; Python clients reach "
                f"{python / server:.2f} of what pgbench gets from the same function"
            )


def _where(workload: Workload, clients: int) -> str:
    return f"{workload.name}, {clients} client{'s' if clients > 1 else ''}"


def _show_aim(aim: str, ratios: dict[tuple[Workload, int], float], least: float) -> None:
    worst = min(ratios, key=ratios.__getitem__)
    show_aim(aim, _where(*worst), ratios[worst], met=ratios[worst] >= least)
