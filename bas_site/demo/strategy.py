"""Two ways to play GOD mode. Each looks at what both apes hold; none of them is dull for long.

The dice are there because an ape that can be read can be beaten for ever, and two that read each
other tie for ever.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from bas_client import Ape, Choice, Move, Play, Side, Tribute

BEATEN_BY: dict[Move, Move] = {
    "rock": "paper",
    "paper": "scissors",
    "scissors": "rock",
    # What was paid for is worth a guess at what comes next: a core move, then as good as any.
    "wild": "rock",
    "alpha": "wild",
}
CORE: tuple[Move, ...] = ("rock", "paper", "scissors")

Chooser = Callable[[Play, Side, Random], Choice]


@dataclass(frozen=True, slots=True)
class Strategy:
    """When to drink, and what to play."""

    drinks_at: int
    choose: Chooser

    def is_thirsty(self, play: Play, side: Side) -> bool:
        """Whether to drink a potion now."""
        ape = apes(play, side)[0]
        return play.phase != "opening" and ape.potions > 0 and ape.health <= self.drinks_at


def apes(play: Play, side: Side) -> tuple[Ape, Ape]:
    """One's own ape and the other one."""
    return (play.a, play.b) if side == "a" else (play.b, play.a)


def _last_moves(play: Play, side: Side) -> tuple[Move | None, Move | None]:
    """What one played last, and what the other did."""
    last = play.last_movement
    if last is None:
        return None, None
    a, b = (choice.move if choice else None for choice in (last.a, last.b))
    return (a, b) if side == "a" else (b, a)


def _core_against(move: Move | None, trust: float, dice: Random) -> Move:
    """The core move that beats a guess, as often as the guess is to be trusted."""
    answer = BEATEN_BY[move] if move else None
    return answer if answer in CORE and dice.random() < trust else dice.choice(CORE)


def _legal(play: Play, *wishes: Choice) -> Choice:
    """The first wish that the rules allow now; bare core moves always are."""
    return next(wish for wish in wishes if wish in play.legal_choices)


def _careful(play: Play, side: Side, dice: Random) -> Choice:
    """Spend an alpha when no wild can meet it; answer what the other played last."""
    me, other = apes(play, side)
    core = _core_against(_last_moves(play, side)[1], 0.1, dice)
    # Where the other has no alpha, a wild can beat nothing: better offered for a potion.
    tribute: Tribute | None = "wilds" if me.wilds >= 2 and not other.alphas else None
    if me.alphas and not other.wilds:
        return _legal(play, Choice("alpha", tribute), Choice("alpha"), Choice(core))
    if other.alphas and dice.random() < 0.6:
        return _legal(play, Choice("wild"), Choice(core))
    return _legal(play, Choice(core, tribute), Choice(core))


def _bold(play: Play, side: Side, dice: Random) -> Choice:
    """Strike with alphas while there are any; be one step ahead of who answers one's last move."""
    me, other = apes(play, side)
    own_last = _last_moves(play, side)[0]
    expected = BEATEN_BY[own_last] if own_last else None
    core = _core_against(expected, 0.6, dice)
    tribute: Tribute | None = "alphas" if me.alphas >= 4 else "wilds" if me.wilds >= 3 else None
    if me.alphas and dice.random() < (0.4 if other.wilds else 0.9):
        return _legal(play, Choice("alpha", tribute), Choice("alpha"), Choice(core))
    if other.alphas >= 2 and dice.random() < 0.5:
        return _legal(play, Choice("wild"), Choice(core))
    return _legal(play, Choice(core, tribute), Choice(core))


# A potion heals 2 of 10: the careful one wastes none of it, the bold one waits for trouble.
CAREFUL = Strategy(drinks_at=8, choose=_careful)
BOLD = Strategy(drinks_at=6, choose=_bold)
