"""Nobody looks at these matches: beat's sweep alone ends them."""

from collections.abc import Iterator

import pytest

from bas_site.devstack.stack import Stack
from tests.e2e.helpers import Player, seated, sql, start_web, statement, until

from bas_client import Choice  # isort: skip

pytestmark = pytest.mark.xdist_group("stack")


@pytest.fixture(scope="module", autouse=True)
def impatient(stack: Stack) -> Iterator[None]:
    """Matches made meanwhile have deadlines of three seconds and one."""
    stack.stop_process("web")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MATCH_LOCK_SECONDS", "3")
        patch.setenv("MATCH_REVEAL_SECONDS", "1")
        start_web(stack)
    yield
    stack.stop_process("web")
    start_web(stack)


def ended(stack: Stack, match_id: str) -> tuple[str, str, str]:
    """Wait for the end of a match without asking the site, which would end it itself."""
    query = "SELECT status, winner, ended_by FROM matches_match WHERE id = %s"

    def over() -> bool:
        return sql(stack, query, match_id)[0][0] != "running"

    until(over, "the sweep ends the match")
    return sql(stack, query, match_id)[0]


def test_a_match_whose_players_vanish_is_ended_and_paid_by_the_sweep(
    stack: Stack, rich_pair: tuple[Player, Player]
) -> None:
    ann, bob = rich_pair
    both_gone = seated(30, ann, bob)["Ann"]
    bob_gone = seated(20, ann, bob)["Ann"]
    # Ann is there for the first movement of one of them, and for none of the other.
    ann.client.lock_in(bob_gone, Choice("paper"))

    assert ended(stack, both_gone.id) == ("abandoned", "", "missed")
    # Ann never revealed, so she missed the first movement too: neither was ever there.
    assert ended(stack, bob_gone.id)[0] == "abandoned"
    lines = [("deposit", 100), ("stake", -30), ("stake", -20)]
    for player in rich_pair:
        assert sorted(statement(player)) == sorted([*lines, ("refund", 30), ("refund", 20)])
        assert player.client.credits().available == 100
        assert player.client.credits().in_play == 0


def test_a_player_who_stays_is_paid_when_the_other_vanishes(
    stack: Stack, rich_pair: tuple[Player, Player]
) -> None:
    ann, bob = rich_pair
    match = seated(40, ann, bob)["Ann"]
    for movement in (1, 2, 3):
        view = ann.client.match(match.id)
        assert view.play is not None
        assert view.play.movement == movement
        ann.client.play(view, Choice("rock"))
        query = "SELECT count(*) FROM matches_event WHERE match_id = %s AND body->>'type' = %s"
        until(
            lambda n=movement, q=query: sql(stack, q, match.id, "movement") == [(n,)],
            "the sweep resolves the movement",
        )
    assert ended(stack, match.id) == ("won", "a", "missed")
    assert statement(ann) == [("deposit", 100), ("stake", -40), ("payout", 78)]
    assert statement(bob) == [("deposit", 100), ("stake", -40)]
