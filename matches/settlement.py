"""Stakes and what becomes of them: the only code that moves a match's credits.

Each function works inside the transaction that changes the match's status, under the match's lock.
"""

from matches.models import Match, Seat, Side
from wallets import ledger
from wallets.ledger import Draft, Leg
from wallets.models import Account, Transfer, Wallet


def escrow(match: Match) -> Account:
    """The account that holds a match's stakes."""
    return ledger.open_account(kind=Account.Kind.ESCROW, key=f"match:{match.pk}")


def take_seat(*, match: Match, side: Side, wallet: Wallet) -> Seat:
    """Seat a player and move the stake to the match. Raises InsufficientCredits."""
    seat = Seat.objects.create(match=match, side=side, wallet=wallet, staked=match.stake)
    if match.stake:
        ledger.move(
            kind=Transfer.Kind.STAKE,
            key=f"stake:{match.pk}:{side}",
            source=ledger.player_account(wallet),
            target=escrow(match),
            amount=match.stake,
        )
    return seat


def settle(match: Match) -> None:
    """Empty the escrow of a match that was played, as it ended; practice has none."""
    if not match.stake:
        return
    if match.winner:
        pay_out(match)
    else:
        refund(match)


def refund(match: Match) -> None:
    """Give each player the whole stake back: cancelled, drawn and abandoned matches."""
    seats = list(match.seats.select_related("wallet").order_by("side"))
    legs = [Leg(ledger.player_account(seat.wallet).pk, match.stake) for seat in seats]
    _release(match, Transfer.Kind.REFUND, legs)


def shares(match: Match) -> tuple[dict[Side, int], int]:
    """What each side gets of the pot of a match that has ended, and the house's fee.

    The winner takes the pot less the fee, which is rounded down (rules.md, section 5); with no
    winner both get their stakes.
    """
    if not match.winner:
        return dict.fromkeys(Side, match.stake), 0
    pot = 2 * match.stake
    fee = pot * match.fee_bps // 10_000
    return dict.fromkeys(Side, 0) | {Side(match.winner): pot - fee}, fee


def pay_out(match: Match) -> None:
    """Give the winner the pot less the house fee."""
    winner = match.seats.select_related("wallet").get(side=match.winner)
    won, fee = shares(match)
    accounts = {
        ledger.player_account(winner.wallet).pk: won[Side(match.winner)],
        ledger.system_account(Account.Kind.FEES).pk: fee,
    }
    legs = [Leg(account, share) for account, share in accounts.items() if share]
    _release(match, Transfer.Kind.PAYOUT, legs)


def _release(match: Match, kind: Transfer.Kind, legs: list[Leg]) -> None:
    """Empty the escrow, once for each match: the key is the same however it ends."""
    whole = -sum(leg.amount for leg in legs)
    ledger.post(
        Draft(key=f"release:{match.pk}", kind=kind, legs=[Leg(escrow(match).pk, whole), *legs])
    )
    match.seats.update(staked=0)
