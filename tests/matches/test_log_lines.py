"""What a match leaves in the log: how it began and ended, and its id in each line on the way."""

import logging

import pytest
import structlog
from django.db import transaction

from matches import battle, lobby, practice
from tests.matches.helpers import PAPER, ROCK, Table, player
from tests.matches.test_voiding import operator
from wallets.errors import InsufficientCredits

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def lines(caplog):
    """The lines of an event."""
    caplog.set_level(logging.INFO)

    def lines(event):
        said = [record.msg for record in caplog.records if isinstance(record.msg, dict)]
        return [line for line in said if line["event"] == event]

    return lines


def ends(lines):
    ended = lines("match ended")
    return [(line["match"], line["status"], line["ended_by"], line["winner"]) for line in ended]


def test_a_match_is_logged_when_it_starts_and_when_it_ends(lines):
    table = Table(stake=70)
    (line,) = lines("match started")
    assert (line["match"], line["stake"], line["level"]) == (str(table.id), "70", "info")
    table.movement(PAPER, ROCK)
    assert not ends(lines)
    table.almost_won_by("a")
    table.movement(PAPER, ROCK)
    assert ends(lines) == [(str(table.id), "won", "rounds", "a")]


def test_practice_is_logged_too(lines):
    match = practice.start_practice(wallet=player(), ape=practice.house_apes()[0]["name"])
    assert lines("match started")[0]["match"] == str(match.pk)


def test_a_match_that_was_stopped_or_that_nobody_joined_is_logged(lines):
    table = Table()
    battle.void(operator=operator(), match_id=table.id, reason="a fire")
    ann = player()
    match = lobby.create_match(wallet=ann, stake=1, visibility="open")
    lobby.cancel_match(wallet=ann, match_id=match.pk)
    assert ends(lines) == [
        (str(table.id), "cancelled", "voided", ""),
        (str(match.pk), "cancelled", "cancelled", ""),
    ]


def test_what_is_undone_is_not_logged(lines):
    table = Table()
    with transaction.atomic():
        battle.resign(wallet=table.wallets["a"], match_id=table.id)
        transaction.set_rollback(True)
    assert not ends(lines)
    table.resign("a")
    assert len(ends(lines)) == 1


def test_a_line_from_below_names_the_match_that_it_is_about(lines):
    match = lobby.create_match(wallet=player(), stake=10, visibility="open")
    with pytest.raises(InsufficientCredits):
        lobby.join_match(wallet=player(credits_=0), match_id=match.pk)
    (line,) = lines("refused by the ledger")
    assert line.get("match") == str(match.pk)
    assert "match" not in structlog.contextvars.get_contextvars()
