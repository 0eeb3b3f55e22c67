"""The client: one method for each call of the API."""

import json
import secrets
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Literal, Self
from urllib.parse import parse_qs, urlsplit

import httpx
import httpx_sse
from eth_account import Account
from eth_account.messages import encode_defunct
from eth_account.signers.local import LocalAccount

from bas_client.errors import ApiProblem
from bas_client.models import (
    Chain,
    Choice,
    Credits,
    Deposit,
    Match,
    MatchCard,
    StatementLine,
    Withdrawal,
)
from bas_client.protocol import commitment, login_message
from bas_client.records import Event, HeadToHead, HouseApe, Login, PastMatch, Player, Scope

API = "/api/v1/"
FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 2.0
# A stream says something at least every 15 seconds.
SILENCE_SECONDS = 45


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

    def log_in(
        self, key: str | LocalAccount, *, name: str = "bas-client", scope: Scope = "play"
    ) -> str:
        """Log in by signing a message (EIP-4361, EIP-191) and return the wallet's address.

        `key` is a private key, or an account of eth_account. It never leaves this process. `name`
        is what the player's list of logins will call this one. `scope` is what this client may
        do: withdrawing and ending other logins take `money`.
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
        form = {
            "message": message,
            "signature": signature,
            "token_name": name,
            "token_scope": scope,
        }
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

    def logins(self) -> list[Login]:
        """Return your sessions and tokens, the last used first."""
        return [Login.of(row) for row in self._send("GET", "auth/logins")]

    def revoke_login(self, login_id: str) -> None:
        """End one of your sessions or tokens."""
        self._send("POST", f"auth/logins/{login_id}/revoke")

    def revoke_logins(self, *, keep_current: bool = False) -> None:
        """End all your sessions and tokens, but perhaps the token of this client."""
        self._send("POST", "auth/logins/revoke", json={"keep_current": keep_current})

    def create_token(self, *, name: str, scope: Scope = "play") -> str:
        """Return a token for another program of yours; nothing shows it again."""
        form = {"name": name, "scope": scope}
        return str(self._send("POST", "auth/tokens", json=form)["token"])

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

    def withdraw(self, credits: int) -> Withdrawal:
        """Ask for credits back. Once its voucher is signed, `Node.redeem` gets the coins."""
        return Withdrawal.of(self._send("POST", "withdrawals", json={"credits": credits}))

    def withdrawals(self) -> Iterator[Withdrawal]:
        """Yield your withdrawals, newest first."""
        return map(Withdrawal.of, self._pages("withdrawals"))

    def cancel_withdrawal(self, withdrawal_id: int) -> Withdrawal:
        """Take back a withdrawal that is not signed yet; the credits return."""
        return Withdrawal.of(self._send("POST", f"withdrawals/{withdrawal_id}/cancel"))

    def export(self) -> dict[str, Any]:
        """Return all that is kept about you."""
        return dict(self._send("GET", "export"))

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

    def quick_match(self, *, stake: int) -> Match:
        """Join the match of this stake that has waited longest, or make one and wait."""
        return Match.of(self._send("POST", "matches/quick", json={"stake": stake}))

    def rematch(self, match_id: str) -> Match:
        """Offer the opponent of a match that has ended a rematch, or accept the one offered."""
        return Match.of(self._send("POST", f"matches/{match_id}/rematch"))

    def practice_apes(self) -> list[HouseApe]:
        """Return the apes of the house, to practise against."""
        return [HouseApe.of(ape) for ape in self._send("GET", "matches/practice")]

    def practice(self, ape: str) -> Match:
        """Start a match without a stake against an ape of the house."""
        return Match.of(self._send("POST", "matches/practice", json={"ape": ape}))

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

    # --- watching -----------------------------------------------------------------------------

    def events(
        self, match_id: str, *, after: int | None = None, invitation: str | None = None
    ) -> Iterator[Event]:
        """Yield what happens in a match, as it happens, from its beginning to its `ended`.

        `after` is the number of the last event that you have. A connection that breaks is made
        again, for `patience_seconds`, and goes on where it was.
        """
        deadline: float | None = None
        while True:
            try:
                with self._stream(match_id, after, invitation) as source:
                    deadline = None
                    if source.response.status_code == httpx.codes.NO_CONTENT:
                        return  # it has ended, and `after` was its end
                    for message in source.iter_sse():
                        if not message.data:
                            continue  # what the library makes of a heartbeat
                        data = json.loads(message.data)
                        yield Event(kind=message.event, n=data.get("n"), data=data)
                        after = data.get("n", after)
                        if message.event == "ended":
                            return
            except httpx.TransportError:
                deadline = deadline or time.monotonic() + self.patience_seconds
                if time.monotonic() > deadline:
                    raise
            time.sleep(FIRST_PAUSE_SECONDS)

    def transcript(self, match_id: str, *, invitation: str | None = None) -> dict[str, Any]:
        """Return all that anyone needs to verify a match that has ended."""
        headers = {} if invitation is None else {"Invitation": invitation}
        return dict(self._send("GET", f"matches/{match_id}/transcript", headers=headers))

    # --- players ------------------------------------------------------------------------------

    def leaderboard(self) -> Iterator[Player]:
        """Yield all who have been rated, best first."""
        return map(Player.of, self._pages("leaderboard"))

    def player(self, address: str) -> Player:
        """Return a player's record; an empty one for an address that was never rated."""
        return Player.of(self._send("GET", f"players/{address}"))

    def player_matches(self, address: str) -> Iterator[PastMatch]:
        """Yield a player's matches that have ended, newest first."""
        return map(PastMatch.of, self._pages(f"players/{address}/matches"))

    def head_to_head(self, address: str, other: str) -> HeadToHead:
        """Return how a player's matches against another have ended."""
        return HeadToHead.of(self._send("GET", f"players/{address}/against/{other}"))

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
        headers = self._authorized(headers)
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

    def _authorized(self, headers: Mapping[str, str] | None) -> dict[str, str]:
        login = {} if self.token is None else {"Authorization": f"Bearer {self.token}"}
        return {**(headers or {}), **login}

    @contextmanager
    def _stream(
        self, match_id: str, after: int | None, invitation: str | None
    ) -> Iterator[httpx_sse.EventSource]:
        asked = {"Last-Event-ID": after, "Invitation": invitation}
        headers = {name: str(value) for name, value in asked.items() if value is not None}
        with httpx_sse.connect_sse(
            self._http,
            "GET",
            f"{API}matches/{match_id}/events",
            headers=self._authorized(headers),
            timeout=httpx.Timeout(self._http.timeout.connect, read=SILENCE_SECONDS),
        ) as source:
            if not source.response.is_success:
                source.response.read()
                raise ApiProblem.of(source.response)
            yield source

    def _pages(self, path: str, params: Mapping[str, str] | None = None) -> Iterator[Any]:
        query: dict[str, Any] = {"page_size": "200", **(params or {})}
        while True:
            page = self._send("GET", path, params=query)
            yield from page["results"]
            if page["next"] is None:
                return
            # Only the link's query: the token goes to no host but ours.
            query = dict(parse_qs(urlsplit(page["next"]).query))
