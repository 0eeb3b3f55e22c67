"""The table of what operators do, in docs/operations.md, says what the roles are."""

import re
from pathlib import Path

from bas_site.roles import ROLES

DOC = Path(__file__).parents[2] / "docs" / "operations.md"
ROW = re.compile(
    r"^\| [^|]+ \| [^|]+ \| `([\w.]+)` \| (yes|) ?\| (yes|) ?\| (yes|) ?\|$", re.MULTILINE
)


def test_the_table_gives_each_role_what_it_has():
    rows = ROW.findall(DOC.read_text())
    assert len(rows) == len(set(ROLES["admin"]))
    for column, role in enumerate(("support", "treasurer", "admin"), 1):
        assert {row[0] for row in rows if row[column]} == set(ROLES[role])
    assert ROLES["viewer"] == ()
