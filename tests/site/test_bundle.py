import gzip
import json

from django.conf import settings
from django.test import Client

DIST = settings.BASE_DIR / "web" / "dist"
BUDGET_BYTES = 150_000


def files_of(*entries: str) -> set[str]:
    """The files that a page of these chunks loads: scripts, styles and fonts."""
    manifest = json.loads((DIST / ".vite" / "manifest.json").read_text())
    files, waiting, seen = set(), list(entries), set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        chunk = manifest[name]
        files |= {chunk["file"], *chunk.get("css", []), *chunk.get("assets", [])}
        waiting += chunk.get("imports", [])
    return files


def test_a_first_visit_to_a_battle_loads_less_than_its_budget():
    files = files_of("src/main.tsx", "src/battle/index.tsx")
    assert any(file.endswith(".css") for file in files)
    # The font is compressed already.
    sizes = {file: len(gzip.compress((DIST / file).read_bytes())) for file in files}
    shell = len(gzip.compress(Client().get("/").content))
    assert sum(sizes.values()) + shell < BUDGET_BYTES, sizes


def test_the_wallets_library_is_not_part_of_a_battle():
    scripts = [(DIST / file) for file in files_of("src/main.tsx", "src/battle/index.tsx")]
    assert not any(b"waitForTransactionReceipt" in script.read_bytes() for script in scripts)
