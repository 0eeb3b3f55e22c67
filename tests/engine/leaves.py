"""Every leaf of a transcript, changed as little as can be: each change is found, and named."""

import copy

import pytest

from engine.replay import ReplayError
from engine.verify import Fault, verify


def leaves(value, path=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from leaves(inner, f"{path}[{index}]")
    else:
        yield path, value


def changed(document, path, value):
    """A copy of the document with another value at the path."""
    copied = copy.deepcopy(document)
    *way, last = [
        int(s) if s.isdigit() else s
        for s in path.replace("[", ".").rstrip("]").replace("]", "").split(".")
    ]
    place = copied
    for step in way:
        place = place[step]
    place[last] = value
    return copied


def neighbours(value):
    """Values of the same type that are as near as can be; for text, at each of its characters."""
    match value:
        case None:
            return ["x"]
        case bool():
            return [not value]
        case int():
            return [value ^ 1, value + 2, -value - 1]
        case str():
            places = range(len(value)) if len(value) < 8 else (0, len(value) // 2, len(value) - 1)
            return [value[:i] + chr(ord(value[i]) ^ 1) + value[i + 1 :] for i in places] + [
                value + "0",
                value[:-1],
            ]


OTHERS = {"a": "b", "b": "a", "rock": "paper", "paper": "wild", "potion": "resign", "won": "draw"}


def check_every_leaf(document):
    """Change each leaf of an honest transcript in turn; how many changes that were."""
    walked = 0
    for path, value in leaves(document):
        for other in neighbours(value) + ([OTHERS[value]] if value in OTHERS else []):
            with pytest.raises(ReplayError) as found:
                verify(changed(document, path, other))
            where = str(found.value).partition(": ")[0]
            assert path == where or (path.startswith(where + ".") and where != "events[0]"), (
                path,
                other,
                str(found.value),
            )
            if value is not None:
                assert isinstance(found.value, Fault)
            walked += 1
    return walked
