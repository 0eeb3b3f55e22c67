"""A typed client of the Block Ape Scissors API. `Client` is the way in."""

from bas_client.client import Client, LockedIn
from bas_client.errors import ApiProblem, ChainError
from bas_client.models import (
    Ape,
    Chain,
    Choice,
    Credits,
    Deposit,
    Match,
    MatchCard,
    Move,
    Movement,
    Play,
    Rematch,
    Side,
    StatementLine,
    Token,
    Tribute,
    Voucher,
    Withdrawal,
)
from bas_client.node import NATIVE, Node
from bas_client.protocol import commitment, login_message
from bas_client.records import Event, HeadToHead, HouseApe, PastMatch, Player, Result

__all__ = [
    "NATIVE",
    "Ape",
    "ApiProblem",
    "Chain",
    "ChainError",
    "Choice",
    "Client",
    "Credits",
    "Deposit",
    "Event",
    "HeadToHead",
    "HouseApe",
    "LockedIn",
    "Match",
    "MatchCard",
    "Move",
    "Movement",
    "Node",
    "PastMatch",
    "Play",
    "Player",
    "Rematch",
    "Result",
    "Side",
    "StatementLine",
    "Token",
    "Tribute",
    "Voucher",
    "Withdrawal",
    "commitment",
    "login_message",
]
