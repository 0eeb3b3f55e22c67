"""Every cell of the tables of rules.md, sections 3 and 4, with the numbers written out by hand."""

import pytest

from engine import GOD_V1, MOVES, Ape, ruleset_with
from tests.engine.helpers import in_round, mirrored, play

# rules.md, section 3, read by rows: what the row's move gets against the column's.
WHO_WINS = {
    "rock": "tie loss win win loss",
    "paper": "win tie loss win loss",
    "scissors": "loss win tie win loss",
    "wild": "loss loss loss tie win",
    "alpha": "win win win loss tie",
}
CELLS = [
    (row, column, cell)
    for row, cells in WHO_WINS.items()
    for column, cell in zip(MOVES, cells.split(), strict=True)
]
HOLDS_ALL = Ape(health=8, alphas=5, wilds=5)


@pytest.mark.parametrize("phase", ["sun", "water", "moon", "earth"])
@pytest.mark.parametrize(("row", "column", "cell"), CELLS)
def test_each_cell_of_who_wins(phase, row, column, cell):
    state = play(in_round(phase, a=HOLDS_ALL, b=HOLDS_ALL), row, column)
    assert state.outcome == {"win": "a", "loss": "b", "tie": "tie"}[cell]


# Health, alphas, wilds and, for the winner, potions.
WINNER = (5, 2, 2, 0)
LOSER = (6, 2, 2)
POOR = (6, 0, 0)  # holds no power moves
POOR_WILD = (6, 0, 1)  # holds only the wild it plays
POOR_ALPHA = (6, 1, 0)  # holds only the alpha it plays

CORE_CORE = [
    ("sun", LOSER, (5, 3, 2, 0), (4, 1, 3)),
    ("sun", POOR, (5, 2, 2, 0), (4, 0, 1)),
    ("water", LOSER, (6, 2, 2, 0), (3, 2, 3)),
    ("water", POOR, (6, 2, 2, 0), (3, 0, 1)),
    ("moon", LOSER, (5, 3, 2, 0), (4, 2, 3)),
    ("moon", POOR, (5, 3, 2, 0), (4, 0, 1)),
    ("earth", LOSER, (5, 2, 2, 0), (4, 1, 2)),
    ("earth", POOR, (5, 2, 2, 0), (4, 0, 1)),
]
CORE_WILD = [
    ("sun", LOSER, (5, 3, 2, 0), (4, 1, 1)),
    ("sun", POOR_WILD, (5, 2, 2, 0), (4, 0, 0)),
    ("water", LOSER, (6, 2, 2, 0), (3, 2, 1)),
    ("water", POOR_WILD, (6, 2, 2, 0), (3, 0, 0)),
    ("moon", LOSER, (5, 3, 2, 0), (4, 2, 1)),
    ("moon", POOR_WILD, (5, 3, 2, 0), (4, 0, 0)),
    ("earth", LOSER, (5, 2, 2, 0), (4, 1, 0)),
    ("earth", POOR_WILD, (5, 2, 2, 0), (4, 0, 0)),
]
ALPHA_CORE = [
    ("sun", LOSER, (5, 1, 2, 0), (3, 2, 3)),
    ("sun", POOR, (5, 1, 2, 0), (3, 0, 1)),
    ("water", LOSER, (8, 1, 2, 0), (6, 2, 3)),
    ("water", POOR, (8, 1, 2, 0), (6, 0, 1)),
    ("moon", LOSER, (5, 2, 2, 0), (3, 2, 2)),
    ("moon", POOR, (5, 2, 2, 0), (3, 0, 1)),
    ("earth", LOSER, (5, 1, 2, 0), (3, 2, 2)),
    ("earth", POOR, (5, 1, 2, 0), (3, 0, 1)),
]
WILD_ALPHA = [
    ("sun", LOSER, (5, 3, 2, 0), (6, 0, 2)),
    ("sun", POOR_ALPHA, (5, 2, 2, 0), (6, 0, 0)),
    ("water", LOSER, (8, 2, 1, 0), (3, 1, 2)),
    ("water", POOR_ALPHA, (8, 2, 1, 0), (3, 0, 0)),
    ("moon", LOSER, (5, 2, 2, 0), (3, 1, 2)),
    ("moon", POOR_ALPHA, (5, 2, 2, 0), (3, 0, 0)),
    ("earth", LOSER, (5, 3, 1, 1), (6, 1, 2)),
    ("earth", POOR_ALPHA, (5, 3, 1, 1), (6, 0, 0)),
]
ROWS = [
    (*moves, *row)
    for moves, rows in (
        (("rock", "scissors"), CORE_CORE),
        (("scissors", "paper"), CORE_CORE),
        (("paper", "rock"), CORE_CORE),
        (("rock", "wild"), CORE_WILD),
        (("scissors", "wild"), CORE_WILD),
        (("paper", "wild"), CORE_WILD),
        (("alpha", "rock"), ALPHA_CORE),
        (("alpha", "scissors"), ALPHA_CORE),
        (("alpha", "paper"), ALPHA_CORE),
        (("wild", "alpha"), WILD_ALPHA),
    )
    for row in rows
]


def holdings(ape):
    return ape[:4]


def check_row(won, lost, phase, winner, loser, winner_after, loser_after, ruleset=GOD_V1):
    """Play a row from both seats; movement 400 keeps a dead loser's health in sight."""
    state = in_round(phase, movement=ruleset.max_movements, a=Ape(*winner), b=Ape(*loser))
    after = play(state, won, lost, ruleset=ruleset)
    assert (holdings(after.a), holdings(after.b)) == (winner_after, (*loser_after, 0))
    swapped = play(mirrored(state), lost, won, ruleset=ruleset)
    assert mirrored(swapped) == after


@pytest.mark.parametrize(("won", "lost", "phase", "loser", "winner_after", "loser_after"), ROWS)
def test_each_row_of_what_a_win_does(won, lost, phase, loser, winner_after, loser_after):
    check_row(won, lost, phase, WINNER, loser, winner_after, loser_after)


@pytest.mark.parametrize(
    ("won", "lost", "phase", "winner", "loser", "winner_after", "loser_after"),
    [
        ("rock", "scissors", "sun", WINNER, (1, 0, 0), (5, 2, 2, 0), (0, 0, 1)),
        ("rock", "scissors", "sun", WINNER, (2, 0, 0), (5, 2, 2, 0), (0, 0, 1)),
        ("rock", "scissors", "water", WINNER, (2, 0, 0), (6, 2, 2, 0), (0, 0, 1)),
        ("rock", "scissors", "water", (10, 0, 0, 0), LOSER, (10, 0, 0, 0), (3, 2, 3)),
        ("rock", "wild", "moon", WINNER, (1, 0, 1), (5, 3, 2, 0), (0, 0, 0)),
        ("alpha", "rock", "earth", WINNER, (2, 0, 0), (5, 1, 2, 0), (0, 0, 1)),
        ("alpha", "rock", "water", (8, 1, 0, 0), LOSER, (10, 0, 0, 0), (6, 2, 3)),
        ("alpha", "rock", "water", (7, 1, 0, 0), LOSER, (10, 0, 0, 0), (6, 2, 3)),
        ("wild", "alpha", "water", (9, 0, 1, 0), (6, 1, 0), (10, 0, 0, 0), (3, 0, 0)),
        ("wild", "alpha", "water", (5, 0, 1, 0), (2, 1, 0), (7, 0, 0, 0), (0, 0, 0)),
        ("wild", "alpha", "moon", (5, 0, 1, 0), (2, 1, 0), (5, 0, 1, 0), (0, 0, 0)),
    ],
)
def test_damage_stops_at_0_and_healing_at_10(
    won, lost, phase, winner, loser, winner_after, loser_after
):
    check_row(won, lost, phase, winner, loser, winner_after, loser_after)


GAINS = "core_loser_to_alpha_gains_wild"


@pytest.mark.parametrize(
    ("ruling", "value", "won", "lost", "phase", "loser", "winner_after", "loser_after"),
    [
        ("sun_wild_steals", "held", "wild", "alpha", "sun", LOSER, (5, 3, 2, 0), (6, 0, 2)),
        ("sun_wild_steals", "held", "wild", "alpha", "sun", POOR_ALPHA, (5, 2, 2, 0), POOR),
        ("sun_wild_steals", "played", "wild", "alpha", "sun", LOSER, (5, 3, 2, 0), (6, 1, 2)),
        ("sun_wild_steals", "played", "wild", "alpha", "sun", POOR_ALPHA, (5, 3, 2, 0), POOR),
        ("earth_wild_steals", "held", "wild", "alpha", "earth", LOSER, (5, 3, 1, 1), (6, 0, 2)),
        ("earth_wild_steals", "held", "wild", "alpha", "earth", POOR_ALPHA, (5, 2, 1, 1), POOR),
        ("earth_wild_steals", "played", "wild", "alpha", "earth", LOSER, (5, 3, 1, 1), (6, 1, 2)),
        (GAINS, True, "alpha", "rock", "sun", POOR, (5, 1, 2, 0), (3, 0, 1)),
        (GAINS, False, "alpha", "rock", "sun", POOR, (5, 1, 2, 0), (3, 0, 0)),
        (GAINS, False, "alpha", "rock", "water", POOR, (8, 1, 2, 0), POOR),
        (GAINS, False, "alpha", "rock", "moon", LOSER, (5, 2, 2, 0), (3, 2, 1)),
        (GAINS, False, "alpha", "rock", "earth", LOSER, (5, 1, 2, 0), (3, 2, 1)),
        (GAINS, False, "paper", "rock", "sun", POOR, (5, 2, 2, 0), (4, 0, 1)),
    ],
)  # fmt: skip
def test_each_ruling_on_what_a_win_does(
    ruling, value, won, lost, phase, loser, winner_after, loser_after
):
    ruleset = ruleset_with(GOD_V1, {ruling: value})
    check_row(won, lost, phase, WINNER, loser, winner_after, loser_after, ruleset)


@pytest.mark.parametrize(
    ("move", "kept", "left"),
    [
        ("rock", True, (3, 4)),
        ("wild", True, (3, 4)),
        ("alpha", True, (3, 4)),
        ("rock", False, (3, 4)),
        ("wild", False, (3, 3)),
        ("alpha", False, (2, 4)),
    ],
)
def test_a_tie_gives_power_moves_back_if_the_ruling_says_so(move, kept, left):
    ruleset = ruleset_with(GOD_V1, {"tie_keeps_power_moves": kept})
    ape = Ape(health=6, alphas=3, wilds=4, potions=1, streak=2)
    after = play(in_round(a=ape, b=ape), move, move, ruleset=ruleset)
    assert after.a == after.b == Ape(6, *left, potions=1, streak=0)
