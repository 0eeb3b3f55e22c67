"""The race, in short; and the scanner, on a server that tells too much."""

import pytest

from tests.races.plan import SETTINGS
from tests.races.run import race

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def outcome_of(tmp_path, settings):
    """What a race of so many movements shows."""
    for name, value in SETTINGS.items():
        setattr(settings, name, value)

    def run(rounds, **options):
        return race(
            root=tmp_path,
            valkey_url=settings.VALKEY_URL,
            rounds=rounds,
            tables=2,
            seed=1,
            say=lambda text: None,
            **options,
        )

    return run


def test_a_short_race_has_no_fault_and_no_leak(outcome_of):
    outcome = outcome_of(20)
    assert (outcome.faults, outcome.leaks) == ([], [])
    assert (outcome.matches, outcome.rounds) == (5, 20)
    assert outcome.counts["movement events"] > 20


def test_each_leak_of_a_leaky_server_is_seen(outcome_of):
    outcome = outcome_of(4, application="tests.races.leaky:application")
    leaks = {leak.what for leak in outcome.leaks}
    assert leaks == {"early", "log", "salt", "secret", "word"}
