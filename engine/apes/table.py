"""The values of the coarsened game, as they are shipped: a byte for each cell at each score."""

import lzma
import struct
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from engine.apes.coarse import CELLS, COUNTS, SCORES, cell_of, mirrored
from engine.state import State

Score = tuple[int, int]

FILE = "sage.table"
RANGE = struct.Struct("<2d")
"""In front of a score's cells: its lowest value, and the step from one byte to the next."""
FILTERS = (
    # Neighbours in health are the most alike.
    {"id": lzma.FILTER_DELTA, "dist": COUNTS**4},
    {"id": lzma.FILTER_LZMA2, "preset": 9},
)


def value(state: State) -> float:
    """Return how likely ape `a` is to win the match from a state in a round, at equilibrium."""
    score = state.a.rounds, state.b.rounds
    if score in SCORES:
        return _value(score, cell_of(state))
    return 1.0 - _value((score[1], score[0]), cell_of(mirrored(state)))


def _value(score: Score, cell: int) -> float:
    low, step, cells = shipped()[score]
    return low + step * cells[cell]


def path() -> Path:
    """Where the file is."""
    return Path(__file__).with_name(FILE)


@cache
def shipped() -> Mapping[Score, tuple[float, float, bytes]]:
    """Return what is in the file, as `unpack` does."""
    return unpack(path().read_bytes())


def pack(layers: Mapping[Score, Iterable[float]]) -> bytes:
    """Return the file of these values, each rounded to one of 256 between its score's extremes."""
    parts = []
    for score in SCORES:
        values = list(layers[score])
        low = min(values)
        step = (max(values) - low) / 255
        steps = bytes([round((value - low) / step) for value in values])
        parts += [RANGE.pack(low, step), steps]
    return lzma.compress(b"".join(parts), filters=FILTERS)


def unpack(file: bytes) -> Mapping[Score, tuple[float, float, bytes]]:
    """Return, for each score, the lowest value, the step, and each cell's number of steps."""
    data, layers = lzma.decompress(file), {}
    for n, score in enumerate(SCORES):
        start = n * (RANGE.size + CELLS)
        low, step = RANGE.unpack_from(data, start)
        cells = data[start + RANGE.size : start + RANGE.size + CELLS]
        layers[score] = low, step, cells
    return layers
