"""What a login leaves in the log: that it happened, and nothing that opens anything."""

import io
import json
import logging
import os
import subprocess
import sys
import time

import pytest
import structlog
from rest_framework.test import APIClient

from bas_site import logs
from bas_site.devstack.service import PROJECT
from contracts.tasks import sign_withdrawals
from tests.wallets.login_helpers import LOGIN, LOGOUT, ME, browser, csrf, form, log_in
from wallets import api

pytestmark = pytest.mark.django_db
QUEUE = "test_logs"


@pytest.fixture(params=[True, False], ids=["json", "console"])
def log(request, settings):
    """All that is logged, as it would be written, in either form."""
    root = logging.getLogger()
    before = root.handlers[:], root.level
    logs.configure({"level": "DEBUG", "json": request.param})
    written = io.StringIO()
    for handler in root.handlers:
        if type(handler) is logging.StreamHandler:
            handler.setStream(written)
    yield written
    root.handlers, root.level = before
    logs.configure(settings.LOGGING)


def secrets_of(client, login):
    return [
        login["signature"],
        login["signature"][2:],
        *(cookie.value for cookie in client.cookies.values() if cookie.value),
    ]


def test_a_login_to_a_session_leaves_no_secret(log):
    client = browser()
    login = form(client)
    secrets = secrets_of(client, login)
    client.post(LOGIN, login)
    secrets += secrets_of(client, login)
    client.get(ME)
    client.post(LOGOUT, headers=csrf(client))
    client.post(LOGIN, login)
    text = log.getvalue()
    assert LOGIN in text
    assert len(secrets) >= 6
    assert not [secret for secret in secrets if secret in text]


def test_a_program_leaves_no_secret(log):
    client = APIClient()
    token = log_in(client, token_name="a bot").json()["token"]
    client.get(ME)
    client.get(ME, headers={"Authorization": f"Bearer {token}x"})
    assert ME in log.getvalue()
    assert token not in log.getvalue()


def test_an_error_in_the_middle_of_a_login_leaves_no_secret(log, monkeypatch):
    def crash(*, text, signature, browser_secret):
        key = "TELL" + "TALE"  # short, so that no line break can hide it
        raise ZeroDivisionError("unforeseen") if key else None

    monkeypatch.setattr(api, "verify_login", crash)
    client = APIClient(raise_request_exception=False)
    login = form(client)
    secrets = secrets_of(client, login)
    assert client.post(LOGIN, login).status_code == 500
    text = log.getvalue()
    assert "unforeseen" in text
    assert "Traceback" in text
    assert "TELLTALE" not in text
    assert not [secret for secret in secrets if secret in text]


@pytest.mark.parametrize("name", sorted(logs.SECRETS))
def test_a_secret_given_to_the_log_by_mistake_is_hidden(log, name):
    structlog.get_logger("a").info("oh", **{name: "TELLTALE"})
    structlog.get_logger("b").info("oh", **{name.title(): "TELLTALE"})
    logging.getLogger("c").info("oh", extra={name: "TELLTALE"})
    assert log.getvalue().count("[hidden]") == 3
    assert "TELLTALE" not in log.getvalue()


def test_a_line_break_in_a_value_makes_no_second_line(log):
    structlog.get_logger("a").info("tried", agent="x\nforged line")
    assert len(log.getvalue().splitlines()) == 1


@pytest.mark.parametrize("log", [True], indirect=True)
def test_machines_get_json(log):
    structlog.get_logger("a").info("happened", wallet=7)
    line = json.loads(log.getvalue())
    assert (line["event"], line["wallet"], line["level"]) == ("happened", 7, "info")


@pytest.fixture
def worker(tmp_path):
    """The file that a worker of QUEUE logs to; it holds no key."""
    command = [sys.executable, "-m", "celery", "-A", "bas_site", "worker", "--queues", QUEUE]
    options = ["--concurrency", "1", "--without-gossip", "--without-mingle"]
    env = os.environ | {"LOG_JSON": "true", "WITHDRAWAL_KEYSTORE": ""}
    written = tmp_path / "log"
    with (
        written.open("w") as out,
        subprocess.Popen(
            [*command, *options], cwd=PROJECT, env=env, stdout=out, stderr=out
        ) as process,
    ):
        yield written
        process.terminate()


def test_a_workers_line_names_the_task_and_the_request_that_sent_it(worker):
    with structlog.contextvars.bound_contextvars(request_id="a-request"):
        sent = sign_withdrawals.apply_async(queue=QUEUE)
    for _ in range(300):
        lines = [line for line in worker.read_text().splitlines() if "nothing is signed" in line]
        if lines:
            break
        time.sleep(0.1)
    (line,) = map(json.loads, lines)
    assert (line.get("task_id"), line.get("request_id")) == (sent.id, "a-request")
