"""The page of the web front end: one shell for all its paths, which the bundle fills."""

import json
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie

from wallets.models import Wallet

BUNDLE = settings.BASE_DIR / "web" / "dist"
ENTRY = "src/main.tsx"


@never_cache
@ensure_csrf_cookie
def shell(request: HttpRequest, **_parameters: object) -> HttpResponse:
    """The shell: the bundle's files, whether this is development, and who is logged in."""
    user = request.user
    return render(
        request,
        "shell.html",
        {
            "environment": settings.BAS_ENV,
            "player": user.address if isinstance(user, Wallet) else "",
            **(_bundle() if settings.DEVELOPMENT else _bundle_at_start()),
        },
    )


def _bundle() -> dict[str, Any]:
    """The addresses of the entry's files, by what the page does with them.

    They have hashes in their names by Vite; Django's own would make a second copy of each module.
    """
    try:
        manifest = json.loads((BUNDLE / ".vite" / "manifest.json").read_text())
    except FileNotFoundError:
        raise ImproperlyConfigured("The web front end is not built: `make web` does it.") from None
    chunks, waiting = [], [ENTRY]
    while waiting:
        chunk = manifest[waiting.pop()]
        if chunk not in chunks:
            chunks.append(chunk)
            waiting += chunk.get("imports", [])

    def addresses(files: list[str]) -> list[str]:
        return [f"{settings.STATIC_URL}web/{file}" for file in files]

    return {
        "script": addresses([chunks[0]["file"]])[0],
        "modules": addresses([chunk["file"] for chunk in chunks[1:]]),
        "styles": addresses([file for chunk in chunks for file in chunk.get("css", [])]),
        "fonts": addresses(
            [file for file in chunks[0].get("assets", []) if file.endswith(".woff2")]
        ),
    }


_bundle_at_start = lru_cache(maxsize=1)(_bundle)
