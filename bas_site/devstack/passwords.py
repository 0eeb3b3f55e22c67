"""The passwords and keys of a root: made up on first use, kept in a private file."""

import json
import secrets
from pathlib import Path


def passwords(root: Path, *names: str) -> dict[str, str]:
    """Return the passwords of these names; the same ones each time."""
    path = root / "passwords.json"
    known: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
    missing = [name for name in names if name not in known]
    if missing:
        known |= {name: secrets.token_urlsafe(24) for name in missing}
        fresh = path.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        fresh.touch(mode=0o600)
        fresh.write_text(json.dumps(known, indent=1))
        fresh.replace(path)
    return known


def password(root: Path, name: str) -> str:
    """Return one password of a root; the same one each time."""
    return passwords(root, name)[name]
