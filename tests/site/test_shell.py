import re
from html.parser import HTMLParser
from uuid import UUID

import pytest
from django.conf import settings
from django.test import Client

ROUTER = settings.BASE_DIR / "web" / "src" / "router.ts"
VALUES = {":id": str(UUID(int=1)), ":address": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"}


def paths():
    """The paths that the front end has pages for, each with values."""
    for path in re.findall(r'path: "([^"]+)"', ROUTER.read_text()):
        yield re.sub(r":\w+", lambda name: VALUES[name[0]], path)


class Inline(HTMLParser):
    """Collects what a strict policy would not run."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        names = dict(attrs)
        if tag == "style" or (tag == "script" and "src" not in names):
            self.found.append(tag)
        self.found += [name for name in names if name == "style" or name.startswith("on")]


def policy(path):
    header = Client().get(path).headers["Content-Security-Policy"]
    return {d.split()[0]: d.split()[1:] for d in header.split(";")}


@pytest.mark.parametrize("path", list(paths()))
def test_a_path_of_the_front_end_is_answered_by_the_shell_with_nothing_inline(path):
    answer = Client().get(path)
    assert answer.status_code == 200
    html = answer.content.decode()
    assert '<div id="app">' in html
    inline = Inline()
    inline.feed(html)
    assert not inline.found
    assert "no-store" in answer.headers["Cache-Control"]


def test_the_shell_gives_the_csrf_token_that_the_first_write_needs():
    client = Client(enforce_csrf_checks=True)
    client.get("/")
    assert client.cookies["csrftoken"].value


def test_pages_load_and_run_only_what_comes_from_the_site():
    assert policy("/") == policy("/lobby") == policy("/healthz")
    found = policy("/")
    assert found.pop("default-src") == found.pop("frame-ancestors") == ["'none'"]
    assert found.pop("base-uri") == ["'none'"]
    assert found.pop("img-src") == ["'self'", "data:"]
    assert all(sources == ["'self'"] for sources in found.values())
    assert {"script-src", "style-src", "connect-src"} <= found.keys()


@pytest.mark.parametrize("path", ["/admin/login/", "/api/docs"])
def test_pages_that_others_wrote_have_their_own_policy_with_no_other_origin_in_it(path):
    found = policy(path)
    assert found["style-src"] == ["'self'", "'unsafe-inline'"]
    sources = {source for sources in found.values() for source in sources}
    assert sources <= {
        "'none'",
        "'self'",
        "'unsafe-inline'",
        "'unsafe-eval'",
        "data:",
        "blob:",
    }


@pytest.mark.parametrize("path", ["/match/7", "/nowhere", "/lobby/x"])
def test_a_path_that_has_no_page_is_not_found(path):
    assert Client().get(path).status_code == 404
