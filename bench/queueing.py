"""How long calls take as the load grows, simulated: the arithmetic behind docs/ops/scale.md.

Calls come at random (Poisson) and pass through stages, one after the other. A stage is a queue,
first come first served, before so many servers; how long one serves a call is random (exponential)
around its mean. `bench matches` measures the means.
"""

import argparse
import heapq
import itertools
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from bench.report import show_table

# Of the load that the narrowest stage can just take.
LOADS = (0.3, 0.5, 0.7, 0.8, 0.9, 0.95)


@dataclass(frozen=True, slots=True)
class Stage:
    """Servers that do the same, and how long one of them takes for a call on average."""

    name: str
    servers: int
    seconds: float

    @property
    def capacity(self) -> float:
        """Calls a second that it can just take."""
        return self.servers / self.seconds


def response_seconds(
    stages: Sequence[Stage], *, rate: float, calls: int, dice: Random
) -> list[float]:
    """How long each call took from its arrival to the end of its last stage.

    `rate` is calls a second; `calls` how many are simulated.
    """
    began = list(itertools.accumulate(dice.expovariate(rate) for _ in range(calls)))
    passing = [(at, at) for at in began]
    for stage in stages:
        passing = _through(stage, passing, dice)
    return [end - began for end, began in passing]


def _through(
    stage: Stage, arrivals: list[tuple[float, float]], dice: Random
) -> list[tuple[float, float]]:
    """The moments at which calls leave a stage, in order, each with when its call began."""
    free = [0.0] * stage.servers
    left = []
    for at, began in arrivals:
        end = max(at, free[0]) + dice.expovariate(1 / stage.seconds)
        heapq.heapreplace(free, end)
        left.append((end, began))
    return sorted(left)


def show(stages: Sequence[Stage], *, calls: int, seed: int) -> None:
    """Print the capacity, and response times at growing shares of it."""
    narrowest = min(stages, key=lambda stage: stage.capacity)
    rows = []
    for load in LOADS:
        rate = load * narrowest.capacity
        seconds = response_seconds(stages, rate=rate, calls=calls, dice=Random(seed))
        percentiles = statistics.quantiles(seconds, n=100)
        shown = [f"{1000 * percentiles[p - 1]:.1f}" for p in (50, 95, 99)]
        rows.append([f"{load:.0%}", f"{rate:,.0f}", *shown])
    title = f"At most {narrowest.capacity:,.0f} calls/s, by {narrowest.name}; response times in ms"
    show_table(title, ["load", "calls /s", "p50", "p95", "p99"], rows)


def main() -> None:
    """Read the command line, simulate, print."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.queueing", description=__doc__.split("\n")[0]
    )
    parser.add_argument(
        "stages",
        nargs="+",
        metavar="NAME:SERVERS:MILLISECONDS",
        help="such as web:2:4.5 postgres:4:1.2",
    )
    parser.add_argument("--calls", type=int, default=200_000, help="how many are simulated")
    parser.add_argument("--seed", type=int, default=1, help="of the dice")
    options = parser.parse_args()
    stages = []
    for text in options.stages:
        try:
            name, servers, milliseconds = text.split(":")
            stages.append(Stage(name, int(servers), float(milliseconds) / 1000))
        except ValueError:
            parser.error(f"{text!r} is not like web:2:4.5")
    show(stages, calls=options.calls, seed=options.seed)


if __name__ == "__main__":
    main()
