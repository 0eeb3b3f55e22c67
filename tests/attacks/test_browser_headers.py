"""What browsers are told, page by page: the list that Mozilla's Observatory goes through."""

import re

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db
OTHER = "https://other.example"
PAGES = {
    "shell": ("/", 200),
    "API": ("/api/v1/auth/me", 401),
    "problem": ("/api/v1/nothing", 404),
    "console": ("/admin/login/", 200),
    "docs": ("/api/docs", 200),
    "schema": ("/api/schema", 200),
    "health": ("/healthz", 200),
}
# The console's and the docs' pages were written by others; their policies name what those need.
INLINE_SCRIPTS = {"console"}
INLINE_STYLES = {"console", "docs"}


@pytest.fixture
def https(settings):
    settings.SECURE_HSTS_SECONDS = 365 * 24 * 3600
    settings.SECURE_HSTS_INCLUDE_SUBDOMAINS = settings.SECURE_HSTS_PRELOAD = True
    settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = True
    return Client(headers={"X-Forwarded-Proto": "https"})


def policy(answer):
    parts = (part.split() for part in answer["Content-Security-Policy"].split(";") if part.strip())
    return {name: values for name, *values in parts}


@pytest.fixture(params=PAGES, ids=PAGES)
def answered(request, https):
    url, status = PAGES[request.param]
    answer = https.get(url, secure=True)
    assert answer.status_code == status
    return request.param, answer


def test_content_security_policy(answered):
    name, answer = answered
    told = policy(answer)
    assert told["default-src"] == ["'none'"]
    assert told["base-uri"] == ["'none'"]
    assert told["form-action"] == ["'self'"]
    unsafe = {word for words in told.values() for word in words if word.startswith("'unsafe")}
    if name not in INLINE_SCRIPTS:
        assert not {word for word in told["script-src"] if word.startswith("'unsafe")}
    if name not in INLINE_SCRIPTS | INLINE_STYLES:
        assert not unsafe
    for words in told.values():
        assert not [w for w in words if re.match(r"\*|https?:|//", w)], "no other origin"


def test_clickjacking(answered):
    _, answer = answered
    assert answer["X-Frame-Options"] == "DENY"
    assert policy(answer)["frame-ancestors"] == ["'none'"]


def test_strict_transport_security(answered):
    _, answer = answered
    told = answer["Strict-Transport-Security"]
    assert int(re.search(r"max-age=(\d+)", told)[1]) >= 15_768_000
    assert "includeSubDomains" in told


def test_content_type_options(answered):
    assert answered[1]["X-Content-Type-Options"] == "nosniff"


def test_referrer_policy(answered):
    assert answered[1]["Referrer-Policy"] in ("same-origin", "no-referrer", "strict-origin")


def test_cross_origin_policies(answered):
    assert answered[1]["Cross-Origin-Resource-Policy"] == "same-origin"
    assert answered[1]["Cross-Origin-Opener-Policy"] == "same-origin"


def test_permissions_policy(answered):
    told = answered[1]["Permissions-Policy"]
    for feature in ("camera", "microphone", "geolocation", "payment", "usb"):
        assert f"{feature}=()" in told


def test_subresource_integrity_is_not_needed_as_no_script_comes_from_elsewhere(answered):
    for address in re.findall(
        r"<(?:script|link)[^>]+(?:src|href)=\"([^\"]+)", answered[1].content.decode()
    ):
        assert re.match(r"/(?!/)|data:", address), address


def test_http_leads_to_https_on_the_same_host(settings):
    settings.SECURE_SSL_REDIRECT = True
    answer = Client().get("/lobby")
    assert (answer.status_code, answer["Location"]) == (301, "https://testserver/lobby")


def test_cookies(answered):
    for cookie in answered[1].cookies.values():
        assert cookie["secure"], cookie.key
        assert cookie["samesite"] in ("Lax", "Strict"), cookie.key
        # The CSRF token is for scripts of the site's own to read.
        assert cookie["httponly"] or cookie.key == "csrftoken"


def test_cross_origin_resource_sharing_is_off(answered):
    assert "Access-Control-Allow-Origin" not in answered[1]


def test_nothing_tells_what_runs_here(answered):
    assert not {"Server", "X-Powered-By"} & set(answered[1].headers)


@pytest.mark.parametrize("origin", [OTHER, "null", "http://localhost:8000.evil.example"])
def test_pages_of_no_other_origin_may_read_the_api(origin):
    client = Client(headers={"Origin": origin})
    for answer in (client.get("/api/v1/chain"), client.options("/api/v1/auth/me")):
        assert "Access-Control-Allow-Origin" not in answer


def test_pages_of_a_listed_origin_may_read_the_api_with_a_token_and_no_cookie(settings):
    settings.CORS_ALLOWED_ORIGINS = [OTHER]
    asks = {
        "Origin": OTHER,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization, idempotency-key",
    }
    answer = Client(headers=asks).options("/api/v1/matches")
    assert answer["Access-Control-Allow-Origin"] == OTHER
    assert "idempotency-key" in answer["Access-Control-Allow-Headers"]
    assert "Access-Control-Allow-Credentials" not in answer
    read = Client(headers={"Origin": OTHER}).get("/api/v1/chain")
    assert read["Access-Control-Allow-Origin"] == OTHER
    assert "Retry-After" in read["Access-Control-Expose-Headers"]
    assert "Access-Control-Allow-Origin" not in Client(headers={"Origin": OTHER}).get(
        "/admin/login/"
    )
