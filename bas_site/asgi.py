"""The ASGI application that uvicorn serves."""

import gc
import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "bas_site.settings")
# Before the settings are read. As many threads answer requests.
THREADS = int(os.environ.setdefault("DATABASE_POOL_SIZE", "20")) or 20
# Nobody waits longer than for a connection to the database, either.
WAIT_SECONDS = 10

import django  # noqa: E402

django.setup(set_prefix=False)

from django.conf import settings  # noqa: E402
from django.urls import get_resolver  # noqa: E402

from bas_site.bodies import BoundedBodies  # noqa: E402
from bas_site.threads import OneGoHandler, Threads  # noqa: E402

application = BoundedBodies(
    Threads(OneGoHandler(), count=THREADS, seconds=WAIT_SECONDS),
    bytes_=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
    seconds=settings.REQUEST_BODY_SECONDS,
)

# All of the code is loaded now, and stays: the collector need not look through it again and again,
# while every request waits.
get_resolver().check()
gc.collect()
gc.freeze()
