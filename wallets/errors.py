"""The one exception hierarchy for what a caller did wrong or asked too early.

It lives in the lowest room, so that every room above can raise its own kinds of it. The site turns
each into an RFC 9457 problem with the status and the code given here.
"""

from typing import Any, ClassVar


class Problem(Exception):
    """Something that the caller can understand and act on."""

    status: ClassVar[int] = 400
    code: ClassVar[str] = "bad_request"
    title: ClassVar[str] = "The request can't be carried out"

    def __init__(self, detail: str = "", **extra: Any) -> None:
        super().__init__(detail or self.title)
        self.detail = detail or self.title
        self.extra = extra


class NotFound(Problem):
    """There is no such thing, or it is not yours: both look the same from outside."""

    status, code, title = 404, "not_found", "There is no such thing"


class Conflict(Problem):
    """The thing is not in a state in which this can be done."""

    status, code, title = 409, "conflict", "That can't be done now"


class Forbidden(Problem):
    """Known, understood, and not allowed."""

    status, code, title = 403, "forbidden", "That is not allowed"


class WalletFrozen(Forbidden):
    """The wallet is frozen, until an operator thaws it."""

    code, title = "wallet_frozen", "This wallet is frozen"


class InsufficientScope(Forbidden):
    """A token was made for less than this (RFC 6750)."""

    code, title = "insufficient_scope", "This token may not do that"


class LoginFailed(Problem):
    """A wallet login that was refused; `code` in the details says which check failed."""

    status, code, title = 401, "login_failed", "The login was refused"


class Unavailable(Problem):
    """What this needs does not answer: nothing has happened, and it may be tried again."""

    status, code, title = 503, "unavailable", "That can't be done at the moment"


class ChainUnavailable(Unavailable):
    """No node of the chain answers."""

    code, title = "chain_unavailable", "The chain can't be asked at the moment"


class ServicePaused(Conflict):
    """An operator has paused it; `service` in the problem says what, the detail also why."""

    code, title = "service_paused", "This is paused at the moment"


class InsufficientCredits(Conflict):
    """An account would go below zero."""

    code, title = "insufficient_credits", "Not enough credits"


class IdempotencyConflict(Conflict):
    """The key has already been used, for something else."""

    code, title = "idempotency_conflict", "This key was used for a different request"


class LedgerRefusal(Problem):
    """A transfer that no caller should ever have built: unbalanced, or with an unknown account."""

    status, code, title = 500, "ledger_refusal", "The ledger refused a transfer"
