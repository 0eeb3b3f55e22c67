"""A server that tells too much, in each way that the scanner looks for; for its own test alone."""

from typing import Any

import structlog

from bas_site.asgi import application as application
from matches import battle, live_events, selectors
from matches.models import Event, LockIn, Match, Side
from matches.sealing import unseal
from wallets.models import Wallet

log = structlog.get_logger(__name__)
honest_table, honest_frame, honest_lock_in = (
    selectors.table,
    live_events._event_frame,
    battle._lock_in,
)


def table(match: Match, wallet: Wallet) -> dict[str, Any]:
    told = honest_table(match, wallet)
    told["server_secret"] = unseal(match.sealed_secret)
    sealed = match.lock_ins.exclude(sealed_choice=None).order_by("-movement").first()
    if told["play"] and sealed:
        choice = unseal(sealed.sealed_choice)
        # In a place of its own, and in one where choices stand: but of the running movement.
        told["void_reason"] = f"psst: {choice['move']}"
        shown = {"move": choice["move"], "tribute": choice["tribute"]}
        told["play"]["last_movement"] = {
            "movement": sealed.movement,
            **{side.value: shown for side in Side},
        }
    return told


def event_frame(event: Event, *told: Any) -> bytes:
    sealed = LockIn.objects.filter(match=event.match).exclude(sealed_choice=None).last()
    salt = unseal(sealed.sealed_choice)["salt"].upper() if sealed else ""
    return honest_frame(event, *told).rstrip() + f"\n: {salt}\n\n".encode()


def lock_in(match: Match, side: Side, locks: dict[str, LockIn], **lock: Any) -> None:
    if lock.get("sealed_choice"):
        log.info("locked in", what=unseal(lock["sealed_choice"])["move"])
    honest_lock_in(match, side, locks, **lock)


selectors.table = table
live_events._event_frame = event_frame
battle._lock_in = lock_in
