"""Health: alive is not ready, and what is not ready is said without saying more."""

from datetime import timedelta

import pytest
import time_machine
from django.test import Client, override_settings
from django.utils import timezone

from bas_site import health
from bas_site.celery import app
from contracts.models import Block, Chain
from contracts.selectors import BEHIND_SECONDS, LATE_SECONDS
from matches.clock import beat

pytestmark = pytest.mark.django_db
READ_AT = timezone.now()
SECRET = "postgres://bas:a-secret@db"
ALL = ("database", "cache", "broker", "worker", "chain")


@pytest.fixture(autouse=True)
def working(db: None) -> Chain:
    """A worker that has just swept, and scanned a chain."""
    beat()
    now = timezone.now()
    chain = Chain.objects.create(
        id=31337, name="Anvil", confirmations=3, scanned_block=0, block_range=100, scanned_at=now
    )
    Block.objects.create(chain=chain, number=0, timestamp=READ_AT)
    return chain


def down():
    raise ConnectionError(SECRET)


def test_all_is_well():
    answer = Client().get("/readyz")
    assert (answer.status_code, answer["Cache-Control"]) == (200, "no-store")
    assert answer.json() == dict.fromkeys(ALL, "ok")


@pytest.mark.parametrize("part", ["database", "cache", "broker"])
def test_a_part_that_is_down_makes_the_server_unready_but_not_dead(monkeypatch, part):
    monkeypatch.setitem(health.CHECKS, part, down)
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert answer.json()[part] == "failed"
    assert list(answer.json().values()).count("failed") == 1
    assert "secret" not in answer.content.decode()
    assert Client().get("/healthz").json() == {"status": "ok"}


def test_a_worker_that_is_silent_is_late_and_the_server_still_serves(settings):
    with time_machine.travel(timezone.now() + timedelta(seconds=settings.MATCH_OUTAGE_SECONDS)):
        answer = Client().get("/readyz")
    assert (answer.status_code, answer.json()["worker"]) == (200, "late")


@pytest.mark.parametrize(
    "change",
    [
        {"scanned_at": None},
        {"scanned_at": timezone.now() - timedelta(seconds=LATE_SECONDS + 1)},
        {"trouble": "The node is down."},
        {"head_timestamp": READ_AT + timedelta(seconds=BEHIND_SECONDS + 1)},
        {"head_timestamp": timezone.now() - timedelta(minutes=31)},
    ],
    ids=["never", "long ago", "trouble", "far behind", "stands still"],
)
def test_a_chain_that_is_not_read_is_late_unless_an_operator_has_paused_it(
    working, change, settings
):
    settings.CHAIN_STILL_SECONDS = 1_800
    Chain.objects.filter(pk=working.pk).update(**change)
    assert Client().get("/readyz").json()["chain"] == "late"
    Chain.objects.filter(pk=working.pk).update(paused=True)
    assert Client().get("/readyz").json()["chain"] == "ok"


def test_a_chain_of_development_may_stand_still(working):
    Chain.objects.update(head_timestamp=timezone.now() - timedelta(days=3))
    assert Client().get("/readyz").json()["chain"] == "ok"


def test_a_broker_that_nobody_listens_at_is_down(monkeypatch):
    monkeypatch.setattr(app.conf, "broker_write_url", "redis://127.0.0.1:1/0")
    assert Client().get("/readyz").json() == dict.fromkeys(ALL, "ok") | {"broker": "failed"}


def test_a_cache_that_nobody_listens_at_is_down(settings):
    backend = settings.CACHES["default"]["BACKEND"]
    settings.CACHES = {"default": {"BACKEND": backend, "LOCATION": "redis://127.0.0.1:1/0"}}
    assert Client().get("/readyz").json()["cache"] == "failed"


def test_a_database_that_refuses_is_down(monkeypatch):
    from django.db import OperationalError, connection

    def refuse():
        raise OperationalError(SECRET)

    monkeypatch.setattr(connection, "cursor", refuse)
    answer = Client().get("/readyz")
    assert (answer.status_code, answer.json()["database"]) == (503, "failed")
    assert Client().get("/healthz").status_code == 200


def test_the_life_of_the_process_is_told_without_the_database(django_assert_num_queries):
    with django_assert_num_queries(0):
        assert Client().get("/healthz").status_code == 200


@override_settings(SECURE_SSL_REDIRECT=True)
def test_what_is_asked_beside_the_proxy_is_not_sent_on_to_https():
    assert Client().get("/").status_code == 301
    assert Client().get("/metrics").status_code == 200
    assert Client().get("/healthz").status_code == 200
    assert Client().get("/readyz").status_code == 200


@override_settings(SECURE_SSL_REDIRECT=True)
def test_prometheus_is_not_sent_on_to_https_where_another_server_might_answer():
    assert Client().get("/metrics").status_code == 200
    assert Client().get("/metrics/").status_code == 301
