"""The demo's own judgement: no figure may be wrong without its noticing."""

import dataclasses
import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from bas_site.demo import __main__
from bas_site.demo.figures import DepositFigures, Figures, PlayerFigures, mistakes
from bas_site.demo.story import Stuck

from bas_client import Credits, StatementLine  # isort: skip

SECRET = "5e" * 32
# What tells one player, coin or line from another, and is no figure.
NAMES = {"name", "address", "symbol", "decimals", "id", "created_at"}


def line(kind: str, cause: str, amount: int, balance: int) -> StatementLine:
    return StatementLine(1, kind, cause, amount, balance, datetime(2026, 1, 1, tzinfo=UTC))


def bought(credits: int, price: int) -> DepositFigures:
    amount = credits * price
    return DepositFigures(
        symbol="ETH",
        decimals=18,
        credits_wanted=credits,
        credit_price=price,
        amount_sent=amount,
        amount_seen=amount,
        credits_minted=credits,
        status="credited",
        vault_before=7,
        vault_after=7 + amount,
    )


@pytest.fixture
def good() -> Figures:
    """A pot of 66, a fee of 1.65 that is rounded down to 1, 65 for the winner."""
    ann = PlayerFigures(
        name="Ann",
        address="0xa",
        deposit=bought(120, 10**15),
        at_first=Credits(0, 0, 0),
        minted=Credits(120, 0, 0),
        staked=Credits(87, 33, 0),
        at_last=Credits(87, 0, 0),
        statement=(line("deposit", "d1", 120, 120), line("stake", "s1", -33, 87)),
    )
    bob = PlayerFigures(
        name="Bob",
        address="0xb",
        deposit=bought(85, 10**6),
        at_first=Credits(0, 0, 0),
        minted=Credits(85, 0, 0),
        staked=Credits(52, 33, 0),
        at_last=Credits(117, 0, 0),
        statement=(
            line("deposit", "d2", 85, 85),
            line("stake", "s2", -33, 52),
            line("payout", "p", 65, 117),
        ),
    )
    return Figures(
        stake=33,
        fee_bps=250,
        status="won",
        ended_by="rounds",
        winner="b",
        rounds=(2, 3),
        secret_hash_at_first=hashlib.sha256(bytes.fromhex(SECRET)).hexdigest(),
        secret_hash=hashlib.sha256(bytes.fromhex(SECRET)).hexdigest(),
        server_secret=SECRET,
        players=(ann, bob),
    )


def doctored(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the value with one of its figures bent, for each figure in it, and where that is."""
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            if field.name not in NAMES:
                for where, bent in doctored(getattr(value, field.name), f"{path}.{field.name}"):
                    yield where, dataclasses.replace(value, **{field.name: bent})
    elif isinstance(value, tuple):
        for n, item in enumerate(value):
            for where, bent in doctored(item, f"{path}[{n}]"):
                yield where, (*value[:n], bent, *value[n + 1 :])
    elif isinstance(value, int):
        yield f"{path} + 1", value + 1
        yield f"{path} - 1", value - 1
    elif path.endswith("secret"):
        yield path, "5f" * 32
        yield f"{path} unpublished", None
    elif path.endswith(".winner"):
        yield path, "a"
        yield f"{path} missing", None
    elif not path.endswith(".cause"):
        yield path, f"{value}0"


def test_figures_that_are_right_are_accepted(good: Figures) -> None:
    assert mistakes(good) == []
    assert (good.fee, good.prize) == (1, 65)


def test_each_figure_that_is_wrong_is_noticed(good: Figures) -> None:
    bent = dict(doctored(good))
    # Of a bent fee, only a fee that differs can be seen: 251 basis points of 66 are 1 too. A loser
    # may have won any number of rounds below three.
    unseen = {where for where, figures in bent.items() if not mistakes(figures)}
    assert unseen == {".fee_bps + 1", ".fee_bps - 1", ".rounds[0] - 1"}
    assert len(bent) > 60


def test_a_line_too_few_too_many_or_twice_is_noticed(good: Figures) -> None:
    ann, bob = good.players
    for lines in (bob.statement[:-1], (*bob.statement, bob.statement[-1]), bob.statement[::-1]):
        bent = dataclasses.replace(bob, statement=lines)
        assert mistakes(dataclasses.replace(good, players=(ann, bent)))


def test_one_cause_for_two_lines_is_noticed(good: Figures) -> None:
    ann, bob = good.players
    deposit, stake, payout = bob.statement
    lines = (deposit, stake, dataclasses.replace(payout, cause=stake.cause))
    bent = dataclasses.replace(bob, statement=lines)
    assert mistakes(dataclasses.replace(good, players=(ann, bent)))


@pytest.mark.parametrize(
    ("bend", "audit", "status"),
    [(False, 0, 0), (False, 1, 1), (True, 0, 1), (True, 1, 1)],
)
def test_the_exit_status_says_whether_all_is_right(
    good: Figures,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    bend: bool,
    audit: int,
    status: int,
) -> None:
    figures = dataclasses.replace(good, stake=34) if bend else good
    monkeypatch.setattr(__main__, "play_story", lambda **_: (figures, []))
    monkeypatch.setattr(__main__, "audit", lambda _screen: audit)
    assert __main__.main(["--url", "http://nowhere", "--rpc", "http://nowhere"]) == status
    assert ("WRONG: " in capsys.readouterr().out) is bend


def test_a_demo_that_is_stuck_says_what_to_look_at(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stuck(**_: object) -> None:
        raise Stuck("Look at the worker.")

    monkeypatch.setattr(__main__, "play_story", stuck)
    assert __main__.main(["--url", "http://nowhere", "--rpc", "http://nowhere"]) == 1
    assert "Look at the worker." in capsys.readouterr().out


def test_nobody_there_is_one_line_that_names_who_did_not_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def unreachable(**_: object) -> None:
        raise httpx.ConnectError("", request=httpx.Request("GET", "http://nowhere:81/"))

    monkeypatch.setattr(__main__, "play_story", unreachable)
    assert __main__.main(["--url", "http://nowhere:81", "--rpc", "http://nowhere"]) == 1
    assert "no answer (ConnectError) from nowhere:81" in capsys.readouterr().out
