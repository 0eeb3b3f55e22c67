"""The simulation behind docs/ops/scale.md agrees with what is known about queues."""

from math import factorial
from random import Random
from statistics import mean

import pytest

from bench.queueing import Stage, response_seconds

CALLS = 60_000


def erlang_c_seconds(stage: Stage, rate: float) -> float:
    """The mean time in an M/M/c queue, by Erlang's formula of 1917."""
    load, servers = rate * stage.seconds, stage.servers
    last = load**servers / factorial(servers) * servers / (servers - load)
    waits = last / (sum(load**k / factorial(k) for k in range(servers)) + last)
    return waits * stage.seconds / (servers - load) + stage.seconds


@pytest.mark.parametrize("servers", [1, 2, 8])
@pytest.mark.parametrize("share", [0.3, 0.8])
def test_it_agrees_with_erlangs_formula(servers: int, share: float):
    stage = Stage("web", servers, 0.004)
    rate = share * stage.capacity
    took = response_seconds([stage], rate=rate, calls=CALLS, dice=Random(1))
    assert mean(took) == pytest.approx(erlang_c_seconds(stage, rate), rel=0.08)


def test_stages_after_one_another_take_their_times_together():
    # Burke's theorem (1956): what leaves an M/M/c queue comes to the next one at random again.
    web, postgres = Stage("web", 2, 0.004), Stage("postgres", 4, 0.006)
    took = response_seconds([web, postgres], rate=350, calls=CALLS, dice=Random(1))
    expected = erlang_c_seconds(web, 350) + erlang_c_seconds(postgres, 350)
    assert mean(took) == pytest.approx(expected, rel=0.08)
