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
    Side,
    StatementLine,
    Token,
    Tribute,
)
from bas_client.node import NATIVE, Node
from bas_client.protocol import commitment, login_message

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
    "LockedIn",
    "Match",
    "MatchCard",
    "Move",
    "Movement",
    "Node",
    "Play",
    "Side",
    "StatementLine",
    "Token",
    "Tribute",
    "commitment",
    "login_message",
]
