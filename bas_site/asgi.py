"""The ASGI application that uvicorn serves."""

import gc
import os
from importlib import import_module

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "bas_site.settings")
THREADS = 20
# Before the settings are read.
os.environ.setdefault("DATABASE_POOL_SIZE", str(THREADS))
# Nobody waits longer than for a connection to the database, either.
WAIT_SECONDS = 10

import django  # noqa: E402

django.setup(set_prefix=False)

from django.conf import settings  # noqa: E402

from bas_site.bodies import BoundedBodies  # noqa: E402
from bas_site.middleware import CountedFirst  # noqa: E402
from bas_site.threads import OneGoHandler, Threads  # noqa: E402

threads = Threads(
    OneGoHandler(), count=settings.DATABASE_POOL_SIZE or THREADS, seconds=WAIT_SECONDS
)
application = BoundedBodies(
    CountedFirst(threads),
    bytes_=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
    seconds=settings.REQUEST_BODY_SECONDS,
)

# With the views, all of the code is loaded, and stays: the collector need not look through it again
# and again, while every request waits.
import_module(settings.ROOT_URLCONF)
gc.collect()
gc.freeze()
