"""A wallet that logs in, as its own key holder sees it."""

from datetime import UTC, datetime

from eth_account import Account
from eth_account.messages import encode_defunct
from rest_framework.test import APIClient

NONCE, LOGIN, LOGOUT, ME = (f"/api/v1/auth/{call}" for call in ("nonce", "login", "logout", "me"))


def browser():
    """A client that keeps cookies and, as a browser's requests do, has its CSRF token checked."""
    return APIClient(enforce_csrf_checks=True)


def message(account, challenge, **changes):
    """The text that a wallet signs for a challenge, with some fields changed."""
    fields = {
        "domain": challenge["domain"],
        "address": account.address,
        "uri": challenge["uri"],
        "chain_id": challenge["chain_id"],
        "nonce": challenge["nonce"],
        "issued_at": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "more": "",
    } | changes
    return (
        "{domain} wants you to sign in with your Ethereum account:\n{address}\n\n"
        "Sign in.\n\nURI: {uri}\nVersion: 1\nChain ID: {chain_id}\nNonce: {nonce}\n"
        "Issued At: {issued_at}{more}"
    ).format(**fields)


def signed(account, text):
    return account.sign_message(encode_defunct(text=text)).signature.to_0x_hex()


def form(client, account=None, **changes):
    """A login form over a fresh nonce of this client's."""
    account = account or Account.create()
    text = message(account, client.post(NONCE).json(), **changes)
    return {"message": text, "signature": signed(account, text)}


def log_in(client, account=None, **more):
    """Log in; with `token_name`, the client sends the token from then on, and no cookie."""
    answer = client.post(LOGIN, form(client, account) | more)
    assert answer.status_code == 200, answer.content
    if token := answer.json().get("token"):
        client.cookies.clear()
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
    return answer


def csrf(client):
    return {"X-CSRFToken": client.cookies["csrftoken"].value}


def problem(answer, status, code):
    """The answer is this problem (RFC 9457); its body."""
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json")
    body = answer.json()
    assert (body["status"], body["code"]) == (status, code), body
    assert body["title"]
    assert body["detail"]
    return body
