"""Every refusal, wherever it comes from, is a problem with a stable code (RFC 9457)."""

import re
import zlib
from pathlib import Path

import pytest
from django.db import InterfaceError, OperationalError
from django.test import Client, RequestFactory
from rest_framework.test import APIClient

from bas_site import problems
from tests.wallets.login_helpers import LOGIN, ME, NONCE, problem
from wallets import api, siwe
from wallets.errors import LedgerRefusal, Problem

pytestmark = pytest.mark.django_db
README = Path(__file__).resolve().parents[2] / "docs" / "api" / "README.md"


def posted(body, content_type="application/json"):
    client = APIClient(raise_request_exception=False)
    return client.generic("POST", LOGIN, body, content_type)


@pytest.mark.parametrize("url", ["/api/v1/nothing", "/api/", "/api/v1/matches/1", "/api/v1/auth/"])
@pytest.mark.parametrize("method", ["get", "post", "delete"])
def test_an_unknown_address_is_a_problem(url, method):
    problem(getattr(Client(), method)(url), 404, "not_found")


def test_a_wrong_method_is_a_problem_that_names_the_right_ones():
    answer = APIClient().get(LOGIN)
    problem(answer, 405, "method_not_allowed")
    assert answer["Allow"] == "POST, OPTIONS"
    problem(APIClient().put(NONCE), 405, "method_not_allowed")


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "text/plain", "nonsense"])
def test_anything_but_json_is_refused(kind):
    problem(posted("message=x", kind), 415, "unsupported_media_type")


def test_who_accepts_no_json_is_refused():
    answer = APIClient().post(NONCE, headers={"Accept": "text/html"})
    problem(answer, 406, "not_acceptable")
    problem(APIClient().post(f"{NONCE}?format=xml"), 404, "not_found")


@pytest.mark.parametrize(
    "body",
    [b"{", b"nan", b'{"message": NaN}', b"[1e", b"\0", b"\xff\xfe", b'{"a": "\xff"}', b"9" * 5000],
)
def test_what_is_no_json_is_refused(body):
    problem(posted(body), 400, "malformed")


@pytest.mark.parametrize("nested", [b"[" * 30_000, b'{"a":' * 10_000, b"[" * 990 + b"]" * 990])
def test_deep_nesting_does_not_break_the_server(nested):
    answer = posted(nested)
    assert answer.status_code == 400
    problem(answer, 400, answer.json()["code"])


def test_a_recursion_error_in_a_view_is_a_problem(monkeypatch):
    def too_deep(**_):
        raise RecursionError

    monkeypatch.setattr(api, "issue_nonce", too_deep)
    problem(APIClient().post(NONCE), 400, "malformed")


@pytest.mark.parametrize("charset", ["zlib", "rot13", "hex", "utf-16", "no such"])
def test_a_body_is_utf8_whatever_its_charset_is_said_to_be(charset):
    kind = f"application/json; charset={charset}"
    problem(posted(b"{}", kind), 400, "invalid")
    problem(posted(zlib.compress(b"{}"), kind), 400, "malformed")


def test_a_body_that_is_too_large_is_refused(settings):
    limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    problem(posted(b" " * (limit - 2) + b"{}"), 400, "invalid")
    problem(posted(b" " * (limit - 1) + b"{}"), 413, "too_large")


def test_a_header_that_django_refuses_is_a_problem():
    problem(Client(headers={"Host": "evil.example"}).get(ME), 400, "malformed")


def test_a_lone_surrogate_is_not_echoed_into_an_answer():
    body = problems._field_errors(["\ud800 is not a valid choice."])
    assert body[0]["detail"] == "? is not a valid choice."


def test_djangos_own_csrf_failure_is_a_problem():
    answer = Client(enforce_csrf_checks=True).post("/admin/login/", {"username": "x"})
    problem(answer, 403, "csrf_failed")


@pytest.mark.parametrize("error", [OperationalError("host=db user=bas"), InterfaceError("closed")])
def test_a_database_that_does_not_answer_is_nobodys_fault(monkeypatch, error):
    def fail(**_):
        raise error

    monkeypatch.setattr(api, "issue_nonce", fail)
    answer = APIClient().post(NONCE)
    assert problem(answer, 503, "try_again")["detail"] == "Send the request again."
    assert answer["Retry-After"] == "1"


def test_a_mistake_of_ours_tells_nothing_about_itself(monkeypatch):
    def fail(**_):
        raise LedgerRefusal("payout:7: wallet:12 is short")

    monkeypatch.setattr(api, "issue_nonce", fail)
    assert "wallet" not in str(problem(APIClient().post(NONCE), 500, "ledger_refusal"))

    def crash(**_):
        raise ZeroDivisionError("a secret")

    monkeypatch.setattr(api, "issue_nonce", crash)
    answer = APIClient(raise_request_exception=False).post(NONCE)
    assert "a secret" not in str(problem(answer, 500, "server_error"))


def test_djangos_own_pages_are_problems():
    request = RequestFactory().get("/")
    for page, status in (("bad_request", 400), ("forbidden", 403), ("server_error", 500)):
        answer = getattr(problems, page)(request)
        assert (answer.status_code, answer["Content-Type"]) == (status, problems.CONTENT_TYPE)


def subclasses(kind):
    for inner in kind.__subclasses__():
        yield inner
        yield from subclasses(inner)


def all_codes():
    """Every code that an answer can carry. The test's client has loaded every room's errors."""
    raised = {kind.code for kind in subclasses(Problem)}
    framework = {code for code, _ in problems.FRAMEWORK_CODES.values()}
    return raised | framework | {code for code, _ in problems.OTHER_CODES}


def test_the_documents_list_every_code():
    table = README.read_text().partition("## Errors")[2].partition("\n## ")[0]
    codes, _, reasons = table.partition("### Reasons")
    listed = re.findall(r"^\| `(\w+)` \| \d", codes, re.M)
    assert len(listed) == len(set(listed))
    assert all_codes() <= set(listed)
    documented = dict(re.findall(r"^\| `(\w+)` \| (.+?) \|$", reasons, re.M))
    assert documented == siwe.REASONS


def test_the_type_of_each_problem_leads_to_what_to_do_about_it():
    page = Client().get("/api/problems").content.decode()
    for code in all_codes():
        path, _, anchor = problems.problem(400, code, "title")["type"].partition("#")
        assert path == "/api/problems"
        assert page.count(f'<tr id="{anchor}">') == 1
    assert "stake between <code>minimum</code> and <code>maximum</code>" in page


def test_the_documents_give_each_code_its_status():
    by_code = {kind.code: kind.status for kind in subclasses(Problem)}
    by_code |= {code: kind.status_code for kind, (code, _) in problems.FRAMEWORK_CODES.items()}
    listed = dict(re.findall(r"^\| `(\w+)` \| (\d+) \|", README.read_text(), re.M))
    assert {code: int(listed[code]) for code in by_code} == by_code


def test_no_code_is_written_anywhere_but_in_these_lists():
    root = Path(problems.__file__).resolve().parents[1]
    written = {
        code
        for room in ("wallets", "contracts", "matches", "bas_site")
        for path in (root / room).rglob("*.py")
        for code in re.findall(r"\bproblem\(\s*\d{3},\s*\"(\w+)\"", path.read_text())
    }
    assert written <= all_codes()
