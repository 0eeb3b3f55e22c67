"""A process that scans when it is told to, and may be killed at any point of it."""

import os
import traceback
from multiprocessing.connection import Connection

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "bas_site.settings")

import django

django.setup()

from django.conf import settings  # noqa: E402 - Django is set up once, before all forks
from django.db import InterfaceError, OperationalError, close_old_connections  # noqa: E402

from contracts import nodes, tasks  # noqa: E402

# Short, so that a run sees many of them.
TIMEOUT_SECONDS = 0.3
FIRST_REST_SECONDS = 0.005


def work(orders: Connection, urls: list[str]) -> None:
    """Scan once for each order, and answer with what went wrong that never may."""
    settings.CHAIN_RPC_URLS = urls
    settings.CHAIN_RPC_TIMEOUT_SECONDS = TIMEOUT_SECONDS
    settings.CHAIN_MAX_BLOCK_RANGE = 20
    nodes.FIRST_REST_SECONDS = FIRST_REST_SECONDS
    while True:
        chain_id = orders.recv()
        # As Celery does around each task.
        close_old_connections()
        try:
            tasks.scan_chain(chain_id)
        except (OperationalError, InterfaceError):
            orders.send("")  # the database went away: the next order finds it again
        except Exception:
            orders.send(traceback.format_exc())
        else:
            orders.send("")
