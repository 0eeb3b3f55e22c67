"""Every joint choice that can be reached in a few events, counted and compared with the oracle."""

import pytest

from tests.engine.walk import WALKS, checked_by_the_oracle, walk

# States, of which ended, joint choices, events: after 0 events, 1, 2 … A count that changes means
# that the game has changed. The first line can be told by hand: an ape has 3 moves or misses; two
# may resign; and after that somebody has won, missed or resigned in 8 ways.
COUNTS = {
    "from the start": [
        (1, 0, 16, 18),
        (8, 2, 96, 108),
        (45, 12, 528, 2_085),
        (601, 81, 17_028, 18_068),
        (3_584, 1_260, 89_828, 94_596),
    ],
    "all choices, all at stake": [(1, 0, 256, 260), (82, 23, 8_036, 8_270)],
    "into sudden death": [(1, 0, 36, 146), (50, 2, 1_352, 4_568), (1_232, 96, 34_556, 92_834)],
    "the whole of a short match": [
        (1, 0, 16, 18),
        (8, 2, 96, 108),
        (45, 12, 528, 2_085),
        (601, 81, 17_028, 18_068),
        (3_584, 3_584, 0, 0),
    ],
}


@pytest.mark.parametrize("start", WALKS, ids=lambda start: start.name)
def test_every_event_within_reach_is_what_the_oracle_says(start):
    look = checked_by_the_oracle(start.ruleset)
    assert walk(start.state, start.ruleset, start.depth, look) == COUNTS[start.name]
