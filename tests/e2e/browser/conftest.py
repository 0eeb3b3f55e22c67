"""A real browser: the system's Chromium, or Playwright's own."""

import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
from playwright.sync_api import Browser, BrowserType, Page

from bas_site.devstack.stack import Stack
from tests.e2e.browser.visitor import Visitor

# Set where a missing browser is a failure and no reason to skip: .ci/run does.
REQUIRED = "BROWSER_TESTS_REQUIRED"
NAMES = ("chromium", "chromium-browser", "google-chrome")
FIREFOX_NAMES = ("firefox", "firefox-esr")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
DOWNLOAD_SECONDS = 300


def do_without(names: tuple[str, ...]) -> NoReturn:
    """Skip loudly, or fail, for want of a browser."""
    missing = f"NO BROWSER, so nothing was tried in one: install {' or '.join(names)}."
    if os.environ.get(REQUIRED):
        pytest.fail(missing)
    warnings.warn(missing, stacklevel=2)
    pytest.skip(missing)


def chromium(own: str) -> str | None:
    """The system's Chromium, or Playwright's `own`, downloaded if need be; None if neither is to
    be had."""
    system = next(filter(None, map(shutil.which, NAMES)), None)
    if system is None and not Path(own).exists():
        playwright = [sys.executable, "-m", "playwright", "install", "chromium"]
        subprocess.run(playwright, check=False, timeout=DOWNLOAD_SECONDS)
    return system or (own if Path(own).exists() else None)


@pytest.fixture(scope="session")
def browser_type_launch_args(
    browser_type_launch_args: dict[str, Any], browser_type: BrowserType
) -> dict[str, Any]:
    path = chromium(browser_type.executable_path)
    if path is None:
        do_without(NAMES)
    return browser_type_launch_args | {"executable_path": path, "args": FLAGS}


@pytest.fixture
def firefox() -> str:
    """The system's Firefox."""
    return next(filter(None, map(shutil.which, FIREFOX_NAMES)), None) or do_without(FIREFOX_NAMES)


@pytest.fixture
def visit(browser: Browser, stack: Stack) -> Iterator[Callable[..., Page]]:
    """Opens a path of the site in a browser of its own.

    At the end no page may have complained in its console or asked another origin for anything.
    """
    visitors: list[Visitor] = []

    def open_page(path: str = "/", *, width: int = 1280, script: str = "") -> Page:
        visitor = Visitor(browser, stack.url, width=width, script=script)
        visitors.append(visitor)
        visitor.page.goto(path)
        return visitor.page

    yield open_page
    for visitor in visitors:
        visitor.context.close()
    assert [complaint for visitor in visitors for complaint in visitor.complaints] == []
