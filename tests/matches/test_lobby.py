"""Making, joining and cancelling matches."""

import pytest
from django.db import transaction

from engine import GOD_V1, RULINGS
from matches import battle, lobby
from matches.errors import NotOpen, OwnMatch, StakeOutOfRange
from matches.models import Match, Seat
from matches.selectors import credits_in_play
from tests.matches.helpers import available, escrow_of, player
from wallets.errors import InsufficientCredits, NotFound

pytestmark = pytest.mark.django_db


@pytest.fixture
def maker(db):
    return player()


@pytest.fixture
def joiner(db):
    return player()


@pytest.fixture
def match(maker):
    return lobby.create_match(wallet=maker, stake=100, visibility="open")


@pytest.fixture
def invitation_match(maker):
    return lobby.create_match(wallet=maker, stake=100, visibility="invitation")


def refused(error, action, **arguments):
    """The action fails with this error, and leaves nothing behind."""
    with pytest.raises(error) as caught, transaction.atomic():
        action(**arguments)
    return caught.value


def test_a_new_match_is_open_and_holds_its_makers_stake(maker, match):
    assert (match.status, match.seats.get().side) == ("open", "a")
    assert (available(maker), escrow_of(match), credits_in_play(maker)) == (900, 100, 100)


def test_the_terms_are_fixed_when_the_match_is_made(maker, joiner, match, settings):
    settings.HOUSE_FEE_BPS = settings.MATCH_LOCK_SECONDS = 9_999
    lobby.join_match(wallet=joiner, match_id=match.pk)
    kept = Match.objects.get(pk=match.pk)
    assert (kept.fee_bps, kept.lock_seconds) == (match.fee_bps, match.lock_seconds)
    assert kept.fee_bps != 9_999
    assert battle.ruleset_of(kept) == GOD_V1
    assert set(kept.rulings) == {"name", *RULINGS}


@pytest.mark.parametrize("stake", [-1, 0, 1_000_001, 10**80])
def test_a_stake_outside_the_limits_is_refused_and_the_limits_are_told(maker, stake):
    error = refused(
        StakeOutOfRange, lobby.create_match, wallet=maker, stake=stake, visibility="open"
    )
    assert error.extra == {"minimum": 1, "maximum": 1_000_000}


def test_a_match_that_its_maker_can_not_pay_is_not_made(maker):
    refused(InsufficientCredits, lobby.create_match, wallet=maker, stake=1_001, visibility="open")
    assert not Match.objects.exists()
    assert available(maker) == 1_000


def test_joining_stakes_and_starts(joiner, match):
    started = lobby.join_match(wallet=joiner, match_id=match.pk)
    assert (started.status, started.stage) == ("running", "lock")
    assert started.seats.get(wallet=joiner).side == "b"
    assert (available(joiner), escrow_of(match), credits_in_play(joiner)) == (900, 200, 100)


def test_the_invitation_opens_a_match_that_is_not_open_to_all(joiner, invitation_match):
    lobby.join_match(
        wallet=joiner, match_id=invitation_match.pk, invitation=invitation_match.invitation
    )
    assert Match.objects.get().status == "running"


@pytest.mark.parametrize("invitation", ["", "wrong", "\0", "\ud800", "é" * 22])
def test_without_the_invitation_there_is_no_such_match(joiner, invitation_match, invitation):
    join = {"wallet": joiner, "match_id": invitation_match.pk, "invitation": invitation}
    refused(NotFound, lobby.join_match, **join)
    assert Seat.objects.count() == 1


def test_every_match_has_an_invitation_and_a_secret_of_its_own(maker):
    made = [lobby.create_match(wallet=maker, stake=1, visibility="open") for _ in range(3)]
    assert len({match.invitation for match in made}) == 3
    assert len({match.secret_hash for match in made}) == 3


@pytest.mark.parametrize("kind", ["open", "invitation"])
def test_a_wallet_can_not_meet_itself(maker, kind):
    match = lobby.create_match(wallet=maker, stake=100, visibility=kind)
    refused(OwnMatch, lobby.join_match, wallet=maker, match_id=match.pk)
    assert available(maker) == 900


def test_a_match_has_two_seats(joiner, match):
    lobby.join_match(wallet=joiner, match_id=match.pk)
    late = player()
    refused(NotOpen, lobby.join_match, wallet=late, match_id=match.pk)
    refused(NotOpen, lobby.join_match, wallet=joiner, match_id=match.pk)
    assert available(late) == 1_000


def test_who_can_not_pay_the_stake_takes_no_seat(match):
    poor = player(99)
    refused(InsufficientCredits, lobby.join_match, wallet=poor, match_id=match.pk)
    assert (Match.objects.get().status, Seat.objects.count()) == ("open", 1)


def test_cancelling_returns_the_stake_once(maker, match):
    for _ in range(2):
        assert lobby.cancel_match(wallet=maker, match_id=match.pk).status == "cancelled"
    assert (available(maker), escrow_of(match), credits_in_play(maker)) == (1_000, 0, 0)


def test_a_match_that_was_cancelled_can_not_be_joined(maker, joiner, match):
    lobby.cancel_match(wallet=maker, match_id=match.pk)
    refused(NotOpen, lobby.join_match, wallet=joiner, match_id=match.pk)


def test_a_match_that_has_started_can_not_be_cancelled_by_either(maker, joiner, match):
    lobby.join_match(wallet=joiner, match_id=match.pk)
    for wallet in (maker, joiner):
        refused(NotOpen, lobby.cancel_match, wallet=wallet, match_id=match.pk)


def test_only_its_maker_finds_a_match_to_cancel(joiner, match):
    refused(NotFound, lobby.cancel_match, wallet=joiner, match_id=match.pk)
