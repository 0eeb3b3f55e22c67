"""Health: alive is not ready, and what is not ready is said without saying more."""

import pytest
from django.test import Client, override_settings

from bas_site import health
from bas_site.celery import app

pytestmark = pytest.mark.django_db
SECRET = "postgres://bas:a-secret@db"


def down():
    raise ConnectionError(SECRET)


def test_all_is_well():
    answer = Client().get("/readyz")
    assert (answer.status_code, answer["Cache-Control"]) == (200, "no-store")
    assert answer.json() == {"database": "ok", "cache": "ok", "broker": "ok"}


@pytest.mark.parametrize("part", ["database", "cache", "broker"])
def test_a_part_that_is_down_makes_the_server_unready_but_not_dead(monkeypatch, part):
    monkeypatch.setitem(health.CHECKS, part, down)
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert answer.json()[part] == "failed"
    assert list(answer.json().values()).count("ok") == 2
    assert "secret" not in answer.content.decode()
    assert Client().get("/healthz").json() == {"status": "ok"}


def test_a_broker_that_nobody_listens_at_is_down(monkeypatch):
    monkeypatch.setattr(app.conf, "broker_write_url", "redis://127.0.0.1:1/0")
    assert Client().get("/readyz").json() == {"database": "ok", "cache": "ok", "broker": "failed"}


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
def test_probes_are_not_sent_on_to_https():
    assert Client().get("/").status_code == 301
    assert Client().get("/healthz").status_code == 200
    assert Client().get("/readyz").status_code == 200
