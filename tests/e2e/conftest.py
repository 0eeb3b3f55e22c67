"""One whole stack for all tests here, each process of it real."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bas_site.devstack.services import remove_root, throwaway_root
from bas_site.devstack.stack import Stack
from tests.e2e.helpers import Player, new_player, with_credits


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Read the logs when everything else has been logged."""
    items.sort(key=lambda item: item.path.name == "test_logs.py")


@pytest.fixture(scope="session")
def stack(request: pytest.FixtureRequest) -> Iterator[Stack]:
    root = throwaway_root("e2e")
    with pytest.MonkeyPatch.context() as patch:
        # A browser on a busy machine takes its time.
        patch.setenv("MATCH_LOCK_SECONDS", "120")
        with Stack(root) as running:
            yield running
    if request.session.testsfailed:
        print(f"The logs are in {root / 'logs'}")
    else:
        remove_root(root)


@pytest.fixture
def player(stack: Stack) -> Iterator[Player]:
    """A player with a new wallet and nothing in it, logged in."""
    with new_player(stack, "Ann") as ann:
        yield ann


@pytest.fixture
def rich_pair(stack: Stack) -> Iterator[tuple[Player, Player]]:
    """Two players with 100 credits each."""
    with new_player(stack, "Ann") as ann, new_player(stack, "Bob") as bob:
        with_credits(stack, 100, ann, bob)
        yield ann, bob


@pytest.fixture
def logs(stack: Stack) -> Callable[[], dict[Path, str]]:
    """What all processes have logged so far, by file."""

    def read() -> dict[Path, str]:
        files = (stack.root / "logs").rglob("*")
        return {path: path.read_text(errors="replace") for path in files if path.is_file()}

    return read
