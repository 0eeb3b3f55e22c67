"""Services of a command's own, with the application's tables, and Django set up on them."""

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from bas_site.devstack import Services
from bas_site.devstack.service import PROJECT
from bas_site.devstack.services import remove_root, throwaway_root


@contextmanager
def own_services(name: str, **settings: str) -> Iterator[Services]:
    """PostgreSQL and Valkey for one command; with what it leaves, they are gone at the end."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    services = Services(throwaway_root(name), with_chain=False)
    try:
        with services:
            os.environ |= services.env | {"DJANGO_SETTINGS_MODULE": "bas_site.settings"} | settings
            subprocess.run(
                [sys.executable, "manage.py", "migrate", "--no-input", "--verbosity=0"],
                cwd=PROJECT,
                env={**os.environ, "DATABASE_URL": services.env["DATABASE_OWNER_URL"]},
                check=True,
            )
            import django

            django.setup()
            logging.disable()
            yield services
    finally:
        remove_root(services.root)
