"""The built contracts (`npm run build`): ABIs and bytecode."""

import json
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "artifacts"


@cache
def artifact(name: str) -> dict[str, Any]:
    """The committed build of a contract: `abi` and `bytecode`, among others."""
    return json.loads((FOLDER / f"{name}.json").read_text())
