"""Made-up history: as much as was asked for, with every truth of the books, and once."""

import io
import logging

import pytest
from django.core.management import CommandError, call_command

from bas_site.audit import findings
from bas_site.seed import CHAIN_ID, PAIR_MET, SIZES
from contracts.funding import payers_of
from contracts.models import Chain, Deposit
from matches.fair_play import suspicious_pairs
from matches.models import Match
from tests.site.admin_world import a_running_match
from wallets.models import Account, Posting, Wallet

pytestmark = pytest.mark.django_db
SMALL = SIZES["small"]


def seed() -> str:
    out = io.StringIO()
    call_command("seed", stdout=out)
    return out.getvalue()


def test_the_books_are_in_order_and_as_full_as_was_asked_for():
    said = seed()
    assert Wallet.objects.filter(is_staff=False).count() == SMALL.players
    assert Deposit.objects.count() == SMALL.deposits
    assert Deposit.objects.filter(status="credited").count() == SMALL.deposits - 20
    assert Match.objects.count() == SMALL.matches
    assert not Account.objects.filter(kind="escrow").exclude(balance=0).exists()
    assert Posting.objects.count() > 2 * (SMALL.deposits - 20) + 6 * SMALL.matches
    no_green = [f for f in findings(whole=True) if not f.is_green]
    assert [f.truth for f in no_green] == ["The vaults on the chain cover all credits owed"]
    assert f"deposits credited: {SMALL.deposits - 20} of {SMALL.deposits}" in said
    assert said.endswith("done\n")
    (pair,) = suspicious_pairs(payers_of)
    assert pair.fast_resignations == PAIR_MET


def test_what_is_made_up_is_not_logged_deposit_by_deposit(caplog):
    caplog.set_level(logging.INFO)
    seed()
    assert "deposits credited" not in caplog.text
    assert logging.getLogger("contracts.deposits").isEnabledFor(logging.INFO)


def test_matches_that_were_there_are_left_alone():
    before = a_running_match()
    seats = list(before.seats.values())
    seed()
    before.refresh_from_db()
    assert before.status == Match.Status.RUNNING
    assert list(before.seats.values()) == seats


def test_no_watcher_looks_for_it_and_it_is_done_once():
    seed()
    assert Chain.objects.get(pk=CHAIN_ID).paused
    with pytest.raises(CommandError, match="already"):
        seed()


def test_it_is_for_a_developers_machine_alone(settings):
    settings.DEVELOPMENT = False
    with pytest.raises(CommandError, match="developer"):
        seed()
    assert not Wallet.objects.exists()
