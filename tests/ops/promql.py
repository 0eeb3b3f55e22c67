"""As much of PromQL as the alert rules use: selectors, arithmetic, comparisons, `or`, and time(),
increase() and absent().

What is left when selectors are replaced is also an expression of Python, so Python evaluates it.
"""

import operator
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from prometheus_client.parser import text_string_to_metric_families

Labels = frozenset[tuple[str, str]]
SELECTOR = re.compile(r"\b(?P<name>bas_\w+|up\b)(\{(?P<labels>[^}]*)\})?(?P<range>\[\w+\])?")
LABEL = re.compile(r'(\w+)="([^"]*)"')


@dataclass(eq=False)
class Vector:
    """Samples by their labels; a comparison keeps those for which it is true."""

    samples: dict[Labels, float] = field(default_factory=dict)

    def _with(
        self, other: "Vector | float", apply: Callable[[float, float], float]
    ) -> dict[Labels, float]:
        if not isinstance(other, Vector):
            return {labels: apply(value, other) for labels, value in self.samples.items()}
        both = self.samples.keys() & other.samples.keys()
        return {labels: apply(self.samples[labels], other.samples[labels]) for labels in both}

    def __sub__(self, other: "Vector | float") -> "Vector":
        return Vector(self._with(other, operator.sub))

    def __rsub__(self, other: float) -> "Vector":
        return Vector(self._with(other, lambda mine, theirs: theirs - mine))

    def _where(self, other: "Vector | float", holds: Callable[[float, float], bool]) -> "Vector":
        true = self._with(other, holds)
        return Vector({labels: self.samples[labels] for labels, kept in true.items() if kept})

    def __gt__(self, other: "Vector | float") -> "Vector":
        return self._where(other, operator.gt)

    def __ge__(self, other: "Vector | float") -> "Vector":
        return self._where(other, operator.ge)

    def __eq__(self, other: "Vector | float") -> "Vector":  # type: ignore[override]
        return self._where(other, operator.eq)

    def __bool__(self) -> bool:
        """Python's `or` asks for it, which then does as PromQL's."""
        return bool(self.samples)


class Scrape:
    """What Prometheus knows of a moment: what /metrics said, and its own `up`."""

    def __init__(self, text: str) -> None:
        self.samples = [
            sample for family in text_string_to_metric_families(text) for sample in family.samples
        ]

    def names(self) -> set[str]:
        """Every name that was said."""
        return {sample.name for sample in self.samples}

    def select(self, name: str, **labels: str) -> Vector:
        """The samples of a name that have these labels."""
        return Vector(
            {
                frozenset(sample.labels.items()): sample.value
                for sample in self.samples
                if sample.name == name and labels.items() <= sample.labels.items()
            }
        )


def names_in(expression: str) -> set[str]:
    """The metrics that an expression asks for."""
    return {match["name"] for match in SELECTOR.finditer(expression)}


def fires(expression: str, now: Scrape, before: Scrape) -> bool:
    """Whether an alert's expression holds; `before` is where its ranges begin."""

    def increase(selected: tuple[Vector, Vector]) -> Vector:
        after, earlier = selected
        # A series that has just appeared has not increased, whatever its value.
        return after - earlier

    def select(name: str, labels: dict[str, str], both: bool) -> Vector | tuple[Vector, Vector]:
        after = now.select(name, **labels)
        return (after, before.select(name, **labels)) if both else after

    def absent(selected: Vector) -> Vector:
        return Vector({} if selected else {frozenset(): 1})

    def call(match: re.Match[str]) -> str:
        labels = dict(LABEL.findall(match["labels"] or ""))
        return f"select({match['name']!r}, {labels!r}, {bool(match['range'])})"

    known = {"select": select, "increase": increase, "absent": absent, "time": time.time}
    found = eval(SELECTOR.sub(call, expression), {"__builtins__": {}}, known)
    return bool(found.samples)
