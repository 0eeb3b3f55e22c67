"""A web server that dies in the middle of a match loses nothing of it."""

import threading

import pytest

from bas_site.devstack.stack import Stack
from tests.e2e.helpers import Player, dice, play_movement, seated, start_web, statement

from bas_client import Choice  # isort: skip

pytestmark = pytest.mark.xdist_group("stack")


def test_a_match_goes_on_after_the_web_server_is_killed_between_lock_in_and_reveal(
    stack: Stack, rich_pair: tuple[Player, Player]
) -> None:
    ann, bob = rich_pair
    views = seated(40, ann, bob)
    rolls = dice()
    for _ in range(4):
        play_movement(rich_pair, views, rolls)
    view = views["Ann"] = ann.client.match(views["Ann"].id)
    before = view.play
    assert before is not None
    assert before.movement == 5
    ann.client.lock_in(view, Choice("rock"))
    stack.kill_process("web")
    restart = threading.Timer(0.5, start_web, [stack])
    restart.start()
    try:
        # Sent to nobody at first; the client keeps at it until there is somebody.
        bob.client.lock_in(views["Bob"], Choice("scissors"))
    finally:
        restart.join()
    after = ann.client.match(view.id).play
    assert after is not None
    assert (after.movement, after.stage) == (5, "reveal")
    assert (after.a.locked_in, after.b.locked_in) == (True, True)
    assert (after.a.health, after.b.health) == (before.a.health, before.b.health)
    ann.client.reveal(view.id)
    views["Bob"] = bob.client.reveal(view.id)
    resolved = views["Bob"].play
    assert resolved is not None
    assert resolved.movement == 6
    assert resolved.last_movement is not None
    assert (resolved.last_movement.a, resolved.last_movement.b) == (
        Choice("rock"),
        Choice("scissors"),
    )
    for _ in range(2):
        play_movement(rich_pair, views, rolls)
    assert ann.client.credits().in_play == 40

    over = bob.client.resign(view.id)
    assert (over.status, over.winner, over.ended_by) == ("won", "a", "resigned")
    # A pot of 80, a fee of 2.
    assert statement(ann) == [("deposit", 100), ("stake", -40), ("payout", 78)]
    assert statement(bob) == [("deposit", 100), ("stake", -40)]
    assert [p.client.credits().in_play for p in rich_pair] == [0, 0]
