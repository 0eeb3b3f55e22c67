"""Many matches played through the battle's own functions, and each one's transcript verified.

    python -m tests.matches.transcripts --matches 1000 --whole 20

The whole ones take a hundred movements and more; the others are resigned after a few. Every leaf of
some transcripts is changed besides, and each change must be found and named.
"""

import argparse
import json
import random
import sys
import time
from collections import Counter

from tests.own_services import own_services


def progress(text):
    print(text, file=sys.stderr, flush=True)


def verify_matches(matches, whole, changed, say=progress, seed=1):
    """Play and verify; what there was, counted."""
    from engine.verify import verify
    from matches import battle
    from matches.models import Match
    from matches.transcript import transcript
    from tests.engine.leaves import check_every_leaf
    from tests.matches.helpers import SIDES, Table
    from tests.matches.test_chance import play_movement, play_whole_match

    dice = random.Random(seed)
    counts = Counter()
    for number in range(matches):
        misses = dice.choice((0.0, 0.03, 0.5))
        if number < whole:
            match = play_whole_match(f"{seed}:{number}", misses=misses)
        else:
            table = Table(stake=dice.randrange(1, 500))
            for _ in range(dice.randrange(6)):
                if table.now().status == Match.Status.RUNNING:
                    play_movement(table, battle.state_of(table.now()), dice, misses)
            if table.now().status == Match.Status.RUNNING:
                table.resign(dice.choice(SIDES))
            match = table.now()
        # As it is published and kept: text.
        document = json.loads(json.dumps(transcript(match)))
        proved = verify(document)
        counts += Counter(
            matches=1,
            events=proved.events,
            movements=proved.movements,
            draws=proved.draws,
            **{f"ended by {proved.result['ended_by']}": 1},
        )
        if number >= matches - changed:
            counts["changes found and named"] += check_every_leaf(document)
        if counts["matches"] % 100 == 0:
            say(f"{counts['matches']} transcripts verified")
    return counts


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.matches.transcripts")
    parser.add_argument("--matches", type=int, default=1_000)
    parser.add_argument("--whole", type=int, default=20, help="of them, played to their ends")
    parser.add_argument("--changed", type=int, default=20, help="of them, changed in every leaf")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    started = time.monotonic()
    with own_services("transcripts", LOG_LEVEL="CRITICAL"):
        counts = verify_matches(options.matches, options.whole, options.changed, seed=options.seed)
    for name, count in counts.items():
        print(f"{count:>9,} {name}")
    print(f"all verified, in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    sys.exit(main())
