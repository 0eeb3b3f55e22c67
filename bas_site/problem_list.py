"""The page that a problem's `type` leads to: each code, its status, and what to do about it."""

import re
from functools import cache
from typing import NamedTuple

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

DOCUMENT = settings.BASE_DIR / "docs" / "api" / "README.md"
ROW = re.compile(r"^\| `(?P<code>\w+)` \| (?P<status>\d+) \| (?P<advice>.+) \|$", re.MULTILINE)


class Listed(NamedTuple):
    """A row of the document's table. `advice` is plain words and, in turn, literal ones."""

    code: str
    status: int
    advice: list[str]


@cache
def listed() -> list[Listed]:
    """The table of codes, as docs/api/README.md has it."""
    rows = ROW.finditer(DOCUMENT.read_text())
    return [Listed(row["code"], int(row["status"]), row["advice"].split("`")) for row in rows]


def problem_list(request: HttpRequest) -> HttpResponse:
    """All codes, each with an anchor of its name."""
    return render(request, "problems.html", {"problems": listed()})
