"""`python -m tests.engine.golden`: write every playthrough anew; `git diff` shows what changed."""

import sys

from tests.engine.golden.script import FOLDER, text_of
from tests.engine.golden.situations import SITUATIONS


def main() -> int:
    for path in FOLDER.glob("*.txt"):
        path.unlink()
    for situation in SITUATIONS:
        (FOLDER / f"{situation.name}.txt").write_text(text_of(situation), encoding="utf-8")
    print(f"{len(SITUATIONS)} playthroughs written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
