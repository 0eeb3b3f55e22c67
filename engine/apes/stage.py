"""One movement as a zero-sum game in itself: what to play how often, and what it is worth."""

from collections.abc import Sequence

EPSILON = 1e-9
"""What is closer to zero is a rounding error."""


def equilibrium(payoffs: Sequence[Sequence[float]]) -> tuple[list[float], float]:
    """Return how often the rows' player plays each row, and the value, of a matrix game.

    `payoffs` are from 0 to 1, for the rows' player. Solved exactly, by the simplex method with
    Bland's rule, as the linear program of the columns' player: of all y >= 0 with A y <= 1, one
    of the largest sum, where A is the payoffs plus 1. Its dual is the rows' mix.
    """
    rows, columns = len(payoffs), len(payoffs[0])
    width = columns + rows
    tableau = [
        [p + 1.0 for p in row] + [float(i == r) for r in range(rows)] + [1.0]
        for i, row in enumerate(payoffs)
    ]
    cost = [-1.0] * columns + [0.0] * (rows + 1)
    basis = list(range(columns, width))
    while (entering := next((c for c in range(width) if cost[c] < -EPSILON), None)) is not None:
        _, _, leaving = min(
            (line[width] / line[entering], basis[r], r)
            for r, line in enumerate(tableau)
            if line[entering] > EPSILON
        )
        pivot = tableau[leaving][entering]
        chosen = tableau[leaving] = [x / pivot for x in tableau[leaving]]
        for r, line in enumerate(tableau):
            if r != leaving and (factor := line[entering]):
                tableau[r] = [x - factor * y for x, y in zip(line, chosen, strict=True)]
        factor = cost[entering]
        cost = [x - factor * y for x, y in zip(cost, chosen, strict=True)]
        basis[leaving] = entering
    total = cost[width]
    mix = [max(0.0, weight) / total for weight in cost[columns:width]]
    return mix, 1.0 / total - 1.0
