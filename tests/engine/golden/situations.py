"""Every situation of rules.md that has a playthrough."""

from engine import INFLUENCES, Ape, State
from tests.engine.golden.script import Situation
from tests.engine.helpers import at_cycle_end, in_round


def at(phase: str, a: Ape, b: Ape, **fields: object) -> State:
    return in_round(phase, a=a, b=b, **fields)


CORE = {
    "sun": "L -2 health, W steals 1 held alpha of L",
    "water": "L -3 health, W +1 health",
    "moon": "L -2 health, W gains an alpha",
    "earth": "L -2 health, 1 held alpha and 1 held wild of L are destroyed",
}
ALPHA = {
    "sun": "L -3 health, the alpha is destroyed",
    "water": "W +3 health, the alpha is destroyed",
    "moon": "L -3 health, the alpha is kept, 1 held wild of L is destroyed",
    "earth": "L -3 health, the alpha is destroyed, 1 held wild of L is destroyed",
}
WILD = {
    "sun": "the alpha is destroyed, the wild is kept, W steals 1 held alpha of L",
    "water": "up to 3 points of L's health move to W, both are destroyed",
    "moon": "L -3 health, the wild is kept, the alpha is destroyed",
    "earth": "the played alpha passes to W, the wild is destroyed, W gains a potion",
}
# The loser holds something the first time, and next to nothing the second.
OUTCOMES = [
    situation
    for phase in INFLUENCES
    for situation in (
        Situation(
            name=f"core-beats-core-{phase}",
            title=f"A core move beats a core move under {phase}; then one of a poorer ape.",
            rule=f"rules.md 4: {CORE[phase]}, L gains a wild.",
            given=at(phase, Ape(9), Ape(9, alphas=1)),
            events=("rock / scissors", "paper / rock"),
        ),
        Situation(
            name=f"core-beats-wild-{phase}",
            title=f"A core move beats a wild under {phase}; then the poorer ape's last wild.",
            rule=f"rules.md 4: the played wild is destroyed, {CORE[phase]}, L gains no wild.",
            given=at(phase, Ape(9), Ape(9, alphas=1, wilds=3)),
            events=("rock / wild", "scissors / wild"),
        ),
        Situation(
            name=f"alpha-beats-core-{phase}",
            title=f"An alpha beats a core move under {phase}: of an ape without a wild, with one.",
            rule=f"rules.md 4: {ALPHA[phase]}, L gains a wild (ruling).",
            given=at(phase, Ape(9), Ape(5, alphas=2)),
            events=("rock / alpha", "paper / alpha"),
        ),
        Situation(
            name=f"wild-beats-alpha-{phase}",
            title=f"A wild beats an alpha under {phase}, of an ape with another and without.",
            rule=f"rules.md 4: {WILD[phase]}.",
            given=at(phase, Ape(8, wilds=2), Ape(9, alphas=3, wilds=1)),
            events=("wild / alpha", "wild / alpha"),
        ),
        Situation(
            name=f"ties-{phase}",
            title=f"Ties under {phase}: core moves, wilds, alphas.",
            rule="rules.md 3: both streaks go to 0; power moves go back (ruling).",
            given=at(
                phase, Ape(9, alphas=1, wilds=1, streak=2), Ape(8, alphas=1, wilds=1, streak=1)
            ),
            events=("paper / paper", "wild / wild", "alpha / alpha"),
        ),
    )
]

COURSE = [
    Situation(
        name="opening",
        title="The opening: a win, a loss, a tie; then round 1 under the first influence.",
        rule="rules.md 2: core moves only; winner +1 alpha, loser +1 wild, tie nothing, no damage.",
        events=(
            "rock / scissors",
            "alpha / rock",
            "rock / rock + wilds",
            "rock / paper",
            "potion a",
            "scissors / scissors",
            "rock / rock",
        ),
        draws=("moon",),
    ),
    Situation(
        name="cycles",
        title="Nobody wins: four influences of 5 movements, each once, and a fresh cycle.",
        rule="rules.md 2: each influence lasts 5 movements; a cycle is the four, each once.",
        events=("rock / rock",) * 24,
        draws=("moon", "water", "earth", "sun", "sun"),
    ),
    Situation(
        name="round-end",
        title="Health 0 ends the round at once; both refill, the rest carries over.",
        rule="rules.md 2: the round ends at once; full health, a fresh cycle; streaks carry over.",
        given=at(
            "water", Ape(4, 1, 2, 1, streak=1), Ape(3, 2, 0, 1, streak=2), cycle=2, used=("water",)
        ),
        events=("rock / scissors", "rock / scissors"),
        draws=("earth",),
    ),
    Situation(
        name="round-end-with-the-influence",
        title="A round that ends with the last movement of an influence draws once.",
        rule="rules.md 2: a fresh cycle starts; the influence that would have come does not.",
        given=at("water", Ape(10), Ape(1), in_phase=5, used=("sun", "water")),
        events=("rock / scissors",),
        draws=("water",),
    ),
    Situation(
        name="match-end",
        title="The third round won is the match.",
        rule="rules.md 2: first to win 3 rounds. 7: other fields stay as they were.",
        given=at("earth", Ape(7, rounds=2), Ape(2, rounds=2), round=5, in_phase=5),
        events=("paper / rock", "rock / rock", "- / rock", "potion a", "resign b"),
    ),
    Situation(
        name="health-decides",
        title="After 3 cycles the ape with more health wins the round, after the last movement.",
        rule="rules.md 2: ruling cycles_per_round = 3.",
        given=at_cycle_end(phase="earth", a=Ape(6), b=Ape(7)),
        events=("rock / scissors",),
        draws=("sun",),
    ),
    Situation(
        name="sudden-death",
        title="Level health after 3 cycles: ties and void movements go on, any win ends.",
        rule="rules.md 2: cycles drawn as before; the next decided movement, whatever its damage.",
        given=at_cycle_end(
            phase="earth", in_phase=4, movement=62, a=Ape(5, wilds=1), b=Ape(7, alphas=2)
        ),
        events=("rock / scissors", "rock / rock", "paper / paper", "- / -", "paper / alpha"),
        draws=("water", "moon"),
    ),
    Situation(
        name="sudden-death-outlasts-a-cycle",
        title="Sudden death goes on into a fifth cycle: health is not compared again.",
        rule="rules.md 2: the winner of the next decided movement wins the round.",
        given=at_cycle_end(phase="moon", cycle=4, sudden_death=True, a=Ape(9), b=Ape(4)),
        events=("rock / rock", "rock / paper"),
        draws=("sun", "sun"),
    ),
    Situation(
        name="draw-by-movements",
        title="Movement 400 is the last: a draw, though a round is won in it; nobody refills.",
        rule="rules.md 2: ruling max_movements = 400, the opening included.",
        given=at("moon", Ape(6, rounds=1), Ape(2), movement=399, in_phase=4),
        events=("rock / rock", "rock / scissors", "rock / rock"),
    ),
    Situation(
        name="win-on-the-last-movement",
        title="The third round won on movement 400 wins the match.",
        rule="rules.md 2: first to win 3 rounds; a draw only then.",
        given=at("moon", Ape(6, rounds=2), Ape(2), movement=400, in_phase=5),
        events=("rock / scissors",),
    ),
    Situation(
        name="whole-match",
        title="A whole match of arbitrary choices; who is hurt drinks.",
        rule="rules.md 2 to 5.",
        events=("any",) * 200,
        draws=("moon", "earth", "water", "sun") * 2,
    ),
]

AROUND = [
    Situation(
        name="streak",
        title="Three wins in a row earn a potion; the streak starts again.",
        rule="rules.md 5: a win adds 1, anything else sets it to 0; at 3: +1 potion, and 0.",
        given=at("sun", Ape(9), Ape(10), in_phase=1),
        events=("rock / scissors", "rock / paper", *("rock / scissors",) * 4),
        draws=("earth",),
    ),
    Situation(
        name="streak-from-the-opening",
        title="Two wins in the opening and one in round 1 earn a potion.",
        rule="rules.md 5: opening movements count; rounds do not break it.",
        events=("rock / rock", "rock / scissors", "rock / scissors", "paper / rock"),
        draws=("water",),
    ),
    Situation(
        name="tribute-won",
        title="Tributes of winners: each kind, with a core move and with the power move left.",
        rule="rules.md 5: won the movement: +1 potion; it is spent either way (ruling).",
        given=at("water", Ape(9, alphas=8, wilds=5), Ape(10)),
        events=("rock + wilds / scissors", "rock + alphas / scissors", "alpha + alphas / rock"),
    ),
    Situation(
        name="tribute-lost",
        title="Tributes of losers are gone, and could be neither stolen nor destroyed.",
        rule="rules.md 3, 4: the tribute leaves first; held is what is left after it.",
        given=at("earth", Ape(9), Ape(10, alphas=3, wilds=3)),
        events=("rock / scissors + wilds", "rock / scissors + wilds", "rock / wild"),
    ),
    Situation(
        name="tribute-lost-under-sun",
        title="An alpha that was offered can't be stolen.",
        rule="rules.md 4: stealing what the other ape does not hold does nothing.",
        given=at("sun", Ape(9), Ape(10, alphas=3)),
        events=("rock / scissors + alphas",),
    ),
    Situation(
        name="tribute-tied",
        title="A tribute is lost in a tie, the power move beside it is not.",
        rule="rules.md 3: tributes are lost; power moves go back to their owners (ruling).",
        given=at("sun", Ape(9, alphas=4, wilds=3), Ape(9, alphas=4, wilds=3)),
        events=("wild + wilds / wild", "alpha + alphas / alpha"),
    ),
    Situation(
        name="not-covered",
        title="Power move and tribute must both be covered.",
        rule="rules.md 3: an ape with 2 wilds can't offer 2 and play a third.",
        given=at("sun", Ape(9, alphas=3, wilds=2), Ape(9)),
        events=(
            "wild + wilds / rock",
            "alpha + alphas / rock",
            "rock / wild",
            "rock / alpha",
            "rock / rock + wilds",
            "- / paper + alphas",
            "wild + alphas / rock",
        ),
    ),
    Situation(
        name="potions",
        title="Potions: by 2, by 1 up to full health, refused there and with none left.",
        rule="rules.md 5: +2 health, any number; at full health it is refused, and kept.",
        given=at("sun", Ape(7, potions=3), Ape(8, potions=1, streak=2)),
        events=("potion a", "potion a", "potion a", "potion b", "potion b", "rock / paper"),
    ),
    Situation(
        name="potion-that-saves",
        title="Without the potion the round would have been lost.",
        rule="rules.md 5: at any time while a round is running; it is no movement.",
        given=at("moon", Ape(2, potions=1), Ape(2)),
        events=("potion a", "rock / paper"),
    ),
    *(
        Situation(
            name=f"forfeit-{phase}",
            title=f"An absent ape under {phase}; the other played a power move with a tribute.",
            rule=f"rules.md 5: {CORE[phase]}, L gains no wild; all that W played comes back.",
            given=at(phase, Ape(8, alphas=4, wilds=2), Ape(9, alphas=1, wilds=1, streak=2)),
            events=("alpha + alphas / -", "wild / -", "rock + wilds / rock"),
        )
        for phase in INFLUENCES
    ),
    Situation(
        name="forfeit-opening",
        title="An absent ape in the opening, then both.",
        rule="rules.md 5: the other gains an alpha, the absent ape no wild; both: counts as a tie.",
        events=("- / rock", "- / -", "paper / -"),
        draws=("sun",),
    ),
    Situation(
        name="forfeit-both",
        title="Both absent: void, counts as a tie; a move in between starts the misses again.",
        rule="rules.md 5: both missing: the movement is void.",
        given=at("earth", Ape(8, 1, 1, streak=2), Ape(9, 1, 1, streak=1), in_phase=1),
        events=("- / -", "- / -", "rock / rock", "- / -"),
    ),
    Situation(
        name="three-misses",
        title="The third miss in a row loses the match; its steps are applied.",
        rule="rules.md 5: 3 missed movements in a row by one ape lose it the match there and then.",
        given=at("water", Ape(8), Ape(10), in_phase=1),
        events=("rock / -", "rock / -", "- / rock", "rock / -", "rock / -", "rock / -", "- / -"),
        draws=("sun",),
    ),
    Situation(
        name="third-miss-at-health-0",
        title="The third miss also takes the last health: the round is not counted.",
        rule="rules.md 5: if they end the round it is not counted.",
        given=at("sun", Ape(5, rounds=1), Ape(2, misses=2, rounds=2)),
        events=("rock / -",),
    ),
    Situation(
        name="third-miss-while-both-miss",
        title="The third miss of one is the second of the other.",
        rule="rules.md 5: 3 in a row by one ape lose it the match, though the movement is void.",
        given=at("sun", Ape(5, misses=2), Ape(6, misses=1)),
        events=("- / -",),
    ),
    Situation(
        name="abandoned",
        title="Both miss their third in the same movement.",
        rule="rules.md 5: reached by both in the same movement, the match is abandoned.",
        events=("- / -", "- / -", "- / -", "rock / rock"),
    ),
    Situation(
        name="resign",
        title="Resigning in a round.",
        rule="rules.md 5: resigning loses the match at once.",
        given=at("sun", Ape(10, rounds=2), Ape(1)),
        events=("resign a", "resign b", "rock / rock"),
    ),
    Situation(
        name="resign-in-the-opening",
        title="Resigning before anything has happened.",
        rule="rules.md 5: resigning loses the match at once.",
        events=("resign b",),
    ),
]


def ruling(name: str, value: object, **situation: object) -> Situation:
    """The same events under the ruling's own value and under another."""
    return Situation(name=f"ruling-{name}", rulings=({}, {name: value}), **situation)


RULINGS = [
    ruling(
        "movements_per_phase",
        2,
        title="How many movements an influence lasts.",
        rule="rules.md 2: the source's 5 movements within the 4 phases is 5 in each.",
        given=at("sun", Ape(9), Ape(9), in_phase=2),
        events=("rock / rock", "rock / rock"),
        draws=("water",),
    ),
    ruling(
        "winner_refills",
        False,
        title="Whether the winner of a round starts the next at full health.",
        rule="rules.md 2: false leaves the winner of the last round as it was.",
        given=at("sun", Ape(4), Ape(2)),
        events=("rock / scissors",),
        draws=("sun",),
    ),
    ruling(
        "cycles_per_round",
        1,
        title="After how many cycles health decides.",
        rule="rules.md 2: if a round is still open then, the ape with more health wins it.",
        given=at_cycle_end(cycle=1, a=Ape(6), b=Ape(8)),
        events=("rock / rock",),
        draws=("water",),
    ),
    ruling(
        "max_movements",
        5,
        title="After how many movements a match is a draw.",
        rule="rules.md 2: in a match, the opening included.",
        given=at("sun", Ape(9), Ape(9)),
        events=("rock / rock",),
    ),
    ruling(
        "tie_keeps_power_moves",
        False,
        title="Whether power moves played in a tie go back to their owners.",
        rule="rules.md 3: tributes are lost in any case.",
        given=at("sun", Ape(9, alphas=1, wilds=3), Ape(9, alphas=1, wilds=1)),
        events=("wild + wilds / wild", "alpha / alpha"),
    ),
    ruling(
        "sun_wild_steals",
        "played",
        title="Which alpha a wild that beats one gets under Sun; here of an ape with another.",
        rule="rules.md 4: held, or the played one instead of destroying it.",
        given=at("sun", Ape(9, wilds=1), Ape(9, alphas=2)),
        events=("wild / alpha",),
    ),
    ruling(
        "earth_wild_steals",
        "held",
        title="The same under Earth; here of an ape without another.",
        rule="rules.md 4: with held the played alpha is destroyed and W steals 1 held alpha of L.",
        given=at("earth", Ape(9, wilds=1), Ape(9, alphas=1)),
        events=("wild / alpha",),
    ),
    ruling(
        "core_loser_to_alpha_gains_wild",
        False,
        title="Whether a core move that loses to an alpha earns a wild.",
        rule="rules.md 4: losing with a core move by default earns a wild.",
        given=at("water", Ape(9, alphas=1), Ape(9)),
        events=("alpha / rock", "rock / scissors"),
    ),
    ruling(
        "tribute_returned_on_win",
        True,
        title="Whether a tribute that earned its potion comes back.",
        rule="rules.md 5: only on a win, and never the power move beside it.",
        given=at("moon", Ape(9, wilds=3), Ape(9, wilds=2, alphas=1)),
        events=("wild + wilds / alpha", "rock / scissors + wilds"),
    ),
]

SITUATIONS = (*OUTCOMES, *COURSE, *AROUND, *RULINGS)
