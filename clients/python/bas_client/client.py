"""The client: one method for each call of the API."""

import secrets
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Literal, Self
from urllib.parse import parse_qs, urlsplit

import httpx
from eth_account import Account
from eth_account.messages import encode_defunct
from eth_account.signers.local import LocalAccount

from bas_client.errors import ApiProblem
from bas_client.models import Chain, Choice, Credits, Deposit, Match, MatchCard, StatementLine
from bas_client.protocol import commitment, login_message

API = "/api/v1/"
FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class LockedIn:
    """What a client has committed to. Without the salt it can't be revealed: keep it till then."""

    match_id: str
    movement: int
    choice: Choice = field(repr=False)
    salt: str = field(repr=False)


class Client:
    """A player's way into the API. Not for use by several threads at once.

    Every write carries an `Idempotency-Key`. A request whose answer got lost is sent again with
    the same key, for `patience_seconds` at most. Logging in and out are not, unless they never
    reached the server.
    """

    def __init__(
        self,
        base_url: str,
        *,
        timeout_seconds: float = 10,
        patience_seconds: float = 15,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """`base_url` is the site's origin as players see it: logging in is bound to it."""
        self.base_url = base_url.rstrip("/")
        self.patience_seconds = patience_seconds
        self.token: str | None = None
        self.address: str | None = None
        self._locked_in: dict[str, LockedIn] = {}
        self._http = httpx.Client(
            base_url=self.base_url, timeout=timeout_seconds, transport=transport
        )

    def close(self) -> None:
        """Close the connection; the token stays valid."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # --- who you are --------------------------------------------------------------------------

    def log_in(self, key: str | LocalAccount, *, name: str = "bas-client") -> str:
        """Log in by signing a message (EIP-4361, EIP-191) and return the wallet's address.

        `key` is a private key, or an account of eth_account. It never leaves this process. `name`
        is what the player's list of tokens will call this one.
        """
        account: LocalAccount = Account.from_key(key) if isinstance(key, str) else key
        challenge = self._send("POST", "auth/nonce")
        # Of this client's own knowledge, not the server's: a signature for another site is what a
        # phishing one would ask for.
        domain = urlsplit(self.base_url).netloc
        if challenge["domain"] != domain:
            raise ValueError(
                f"The server at {domain} asks for a login to another site; "
                "give the client the site's own address."
            )
        message = login_message(
            domain=domain,
            address=account.address,
            uri=self.base_url,
            chain_id=int(challenge["chain_id"]),
            nonce=challenge["nonce"],
            issued_at=datetime.now(UTC),
        )
        signature = account.sign_message(encode_defunct(text=message)).signature.to_0x_hex()
        form = {"message": message, "signature": signature, "token_name": name}
        # The nonce is spent by the first attempt, so there is no second one.
        answer = self._send("POST", "auth/login", json=form, repeatable=False)
        # The session was there to hold the nonce.
        self._http.cookies.clear()
        self.token = answer["token"]
        self.address = account.address
        return account.address

    def log_out(self) -> None:
        """Revoke the token."""
        self._send("POST", "auth/logout", repeatable=False)
        self.token = None

    def me(self) -> str:
        """Return the address of the wallet that is logged in, as the server knows it."""
        return str(self._send("GET", "auth/me")["address"])

    # --- credits ------------------------------------------------------------------------------

    def credits(self) -> Credits:
        """Return your credits."""
        return Credits.of(self._send("GET", "credits"))

    def statement(self) -> Iterator[StatementLine]:
        """Yield every change of your available credits, newest first."""
        return map(StatementLine.of, self._pages("credits/statement"))

    def chain(self) -> Chain:
        """Return where to deposit and what a credit costs."""
        return Chain.of(self._send("GET", "chain"))

    def deposits(self) -> Iterator[Deposit]:
        """Yield your deposits, newest first."""
        return map(Deposit.of, self._pages("deposits"))

    # --- the lobby ----------------------------------------------------------------------------

    def lobby(self) -> Iterator[MatchCard]:
        """Yield the open matches that anyone may join, newest first."""
        return map(MatchCard.of, self._pages("matches"))

    def my_matches(self) -> Iterator[MatchCard]:
        """Yield your own matches, newest first."""
        return map(MatchCard.of, self._pages("matches", {"mine": "true"}))

    def create_match(
        self,
        *,
        stake: int,
        visibility: Literal["open", "invitation"] = "open",
        ruleset: str = "god-v1",
    ) -> Match:
        """Make a match and stake on it. With `invitation`, pass `Match.invitation` on."""
        form = {"stake": stake, "visibility": visibility, "ruleset": ruleset}
        return Match.of(self._send("POST", "matches", json=form))

    def match(self, match_id: str, *, invitation: str | None = None) -> Match:
        """Return a match, as you may see it now."""
        headers = {} if invitation is None else {"Invitation": invitation}
        return Match.of(self._send("GET", f"matches/{match_id}", headers=headers))

    def join_match(self, match_id: str, *, invitation: str = "") -> Match:
        """Take the other seat, stake, and start."""
        form = {"invitation": invitation}
        return Match.of(self._send("POST", f"matches/{match_id}/join", json=form))

    def cancel_match(self, match_id: str) -> Match:
        """Take back your match before anyone has joined; the stake returns."""
        return Match.of(self._send("POST", f"matches/{match_id}/cancel"))

    # --- the battle ---------------------------------------------------------------------------

    def lock_in(self, match: Match, choice: Choice) -> Match:
        """Commit to a choice for the running movement of `match`; nobody learns it before `reveal`.

        The salt is made here and kept here: `locked_in` has it.
        """
        if match.you is None or match.play is None:
            raise ValueError("You don't play in this match, or it has not started.")
        locked = LockedIn(match.id, match.play.movement, choice, secrets.token_hex(32))
        # Kept before it is sent: if the answer is lost for good, it may still be what counts.
        self._locked_in[match.id] = locked
        form = {
            "movement": locked.movement,
            "commitment": commitment(
                match_id=match.id,
                movement=locked.movement,
                side=match.you,
                choice=choice,
                salt=locked.salt,
            ),
        }
        return Match.of(self._send("POST", f"matches/{match.id}/moves", json=form))

    def locked_in(self, match_id: str) -> LockedIn | None:
        """Return what this client last committed to in a match, to be kept elsewhere too."""
        return self._locked_in.get(match_id)

    def reveal(self, match_id: str, locked: LockedIn | None = None) -> Match:
        """Reveal what was locked in: by this client, or `locked` if it was kept elsewhere."""
        locked = locked or self._locked_in.get(match_id)
        if locked is None:
            raise LookupError("This client has locked in nothing in this match.")
        form = {
            "movement": locked.movement,
            "move": locked.choice.move,
            "tribute": locked.choice.tribute,
            "salt": locked.salt,
        }
        return Match.of(self._send("POST", f"matches/{match_id}/reveals", json=form))

    def play(self, match: Match, choice: Choice) -> Match:
        """Play in one step: the server commits and reveals for you, and so learns the choice."""
        if match.play is None:
            raise ValueError("This match has not started.")
        form = {
            "movement": match.play.movement,
            "move": choice.move,
            "tribute": choice.tribute,
        }
        return Match.of(self._send("POST", f"matches/{match.id}/moves", json=form))

    def drink(self, match_id: str) -> Match:
        """Drink a potion."""
        return Match.of(self._send("POST", f"matches/{match_id}/potions"))

    def resign(self, match_id: str) -> Match:
        """Give the match up."""
        return Match.of(self._send("POST", f"matches/{match_id}/resign"))

    # --- the wire -----------------------------------------------------------------------------

    def _send(
        self,
        method: str,
        path: str,
        *,
        json: Mapping[str, Any] | None = None,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        repeatable: bool = True,
    ) -> Any:
        headers = dict(headers or {})
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token}"
        if method != "GET":
            headers["Idempotency-Key"] = str(uuid.uuid4())
        deadline = time.monotonic() + self.patience_seconds
        pause = FIRST_PAUSE_SECONDS
        while True:
            late = time.monotonic() + pause > deadline
            try:
                answer = self._http.request(
                    method, API + path, json=json, params=params, headers=headers
                )
            except httpx.TransportError as error:
                # Whoever could not connect has sent nothing.
                unsent = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
                if late or not (repeatable or unsent):
                    raise
            else:
                if answer.is_success:
                    return answer.json() if answer.content else None
                problem = ApiProblem.of(answer)
                # It says that nothing was written.
                if late or problem.code != "try_again":
                    raise problem
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    def _pages(self, path: str, params: Mapping[str, str] | None = None) -> Iterator[Any]:
        query: dict[str, Any] = {"page_size": "200", **(params or {})}
        while True:
            page = self._send("GET", path, params=query)
            yield from page["results"]
            if page["next"] is None:
                return
            # Only the link's query: the token goes to no host but ours.
            query = dict(parse_qs(urlsplit(page["next"]).query))
