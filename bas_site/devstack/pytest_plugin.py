"""Start PostgreSQL and Valkey for a test run, and stop them with it.

Loaded by `-p bas_site.devstack.pytest_plugin`, not from a conftest: pytest-django reads the
settings before any conftest is imported, and they need DATABASE_URL. If the environment already
has it, it is taken as it is, and nothing is started.
"""

import atexit
import os
import signal
from collections.abc import Iterator

import pytest

from bas_site.devstack.services import Services, remove_root, throwaway_root

_services: Services | None = None


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Iterator[None]:
    """Start the servers; a wrapper, so that it comes before pytest-django's own hook."""
    options = early_config.known_args_namespace
    # Workers of pytest-xdist inherit the environment from the process that starts the run.
    wanted = "DATABASE_URL" not in os.environ and "PYTEST_XDIST_WORKER" not in os.environ
    if wanted and not (options.help or options.version):
        _start()
    return (yield)


def pytest_unconfigure() -> None:
    """Stop the servers, whatever became of the tests."""
    _stop()


def _start() -> None:
    global _services
    services = Services(throwaway_root("test"), with_chain=False)
    services.start()
    _services = services
    # For a run that ends before it is configured.
    atexit.register(_stop)
    # A run that is told to end (by a CI's time limit, say) ends like one that is interrupted: with
    # its servers stopped.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # Tests connect as superuser: they make databases, and clear tables between tests that refuse
    # to be cleared by anybody else. What the application's own role may do has tests of its own.
    os.environ.update(services.env, DATABASE_URL=services.postgres.url("postgres"))


def _stop() -> None:
    global _services
    if _services is not None:
        services, _services = _services, None
        services.stop()
        remove_root(services.root)
