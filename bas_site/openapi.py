"""The OpenAPI document at `/api/schema`, as it is committed: `make lint` holds it to the code."""

import json
from functools import cache

import yaml
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers

DOCUMENT = settings.BASE_DIR / "docs" / "api" / "openapi.yaml"
YAML = ("application/vnd.oai.openapi", "application/yaml")
JSON = ("application/vnd.oai.openapi+json", "application/json")


@cache
def _as_yaml() -> bytes:
    return DOCUMENT.read_bytes()


@cache
def _as_json() -> bytes:
    return json.dumps(yaml.safe_load(_as_yaml())).encode()


def openapi(request: HttpRequest) -> HttpResponse:
    """The whole document: YAML, or JSON for who prefers it."""
    kind = request.get_preferred_type([*YAML, *JSON]) or YAML[0]
    document = _as_json() if kind in JSON else _as_yaml()
    answer = HttpResponse(document, content_type=kind)
    patch_vary_headers(answer, ["Accept"])
    return answer
