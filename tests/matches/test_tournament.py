"""`manage.py tournament`: what it prints, and what it refuses."""

import io

import pytest
from django.core.management import CommandError, call_command


def tournament(*arguments):
    out = io.StringIO()
    call_command("tournament", *arguments, stdout=out)
    return out.getvalue()


def test_it_prints_who_wins_how_matches_end_and_which_rulings_matter():
    printed = tournament("--apes", "drifter,bruiser", "--matches", "4", "--rulings")
    for title in ("Who wins", "How long matches last", "How often each ruling matters"):
        assert title in printed
    assert "What the other readings do" in printed
    assert "drifter - bruiser" in printed


def test_the_same_seed_prints_the_same():
    arguments = ("--apes", "drifter,boxer", "--matches", "3", "--seed")
    assert tournament(*arguments, "7") == tournament(*arguments, "7") != tournament(*arguments, "8")


def test_without_a_terminal_progress_is_plain_lines(capsys):
    tournament("--apes", "drifter", "--matches", "10")
    assert "5 of 10 matches\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [("--apes", "godzilla"), ("--matches", "0"), ("--matches", "-1"), ("--matches", "many")],
)
def test_a_wrong_option_is_refused(arguments):
    with pytest.raises(CommandError):
        tournament(*arguments)
