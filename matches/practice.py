"""Practice: matches without a stake, hence without a posting, against an ape of the house."""

from typing import Any

from django.conf import settings
from django.utils import timezone
from eth_utils.address import to_checksum_address

from engine.apes import APES
from matches import battle, lobby, settlement
from matches.models import Match, Side
from wallets.accounts import wallet_for
from wallets.db import in_transaction
from wallets.models import Wallet


def house_apes() -> list[dict[str, Any]]:
    """The apes that one may practise against."""
    return [
        {"name": ape.name, "description": ape.description, "address": address_of(ape.name)}
        for ape in APES.values()
    ]


def address_of(ape: str) -> str:
    """The address of a house ape: its 20 bytes spell the name, so that nobody can have its key."""
    return to_checksum_address(f"house ape: {ape}".encode().rjust(20, b"\0"))


@in_transaction
def start_practice(*, wallet: Wallet, ape: str) -> Match:
    """Start a match against a house ape, which locks its first choice in at once.

    Raises ServicePaused, WalletFrozen and TooManyMatches.
    """
    lobby.require_may_play(wallet, settings.MATCH_MAX_PRACTICE, match__stake=0)
    match = lobby.new_match(
        stake=0, fee_bps=0, visibility=Match.Visibility.INVITATION, house_ape=ape
    )
    settlement.take_seat(match=match, side=Side.A, wallet=wallet)
    settlement.take_seat(match=match, side=Side.B, wallet=wallet_for(address_of(ape)))
    battle.begin(match, timezone.now())
    return match
