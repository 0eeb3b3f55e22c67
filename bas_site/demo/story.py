"""The main job, step by step. What is seen on the way is kept as it was seen, for `figures`."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from random import Random

from bas_client import NATIVE, Chain, Client, Credits, Deposit, Match, Node, Play, Token
from bas_client.node import call_data
from eth_account import Account
from eth_account.signers.local import LocalAccount

from bas_site.demo.figures import DepositFigures, Figures, PlayerFigures
from bas_site.demo.screen import Meter, Screen, Step
from bas_site.demo.strategy import BOLD, CAREFUL, Strategy

POLL_SECONDS = 0.2
GAS_MONEY_WEI = 10**18
CREDITS_BOUGHT = (120, 85)
# Odd, so that the fee is a fraction that has to be rounded.
STAKE = 33
FIRST_TO = 3  # rounds


class Stuck(Exception):
    """Something did not happen in its time; says what, and what to look at."""


@dataclass
class Player:
    """A player at the keyboard: a key that is nobody else's, and a client."""

    name: str
    account: LocalAccount
    client: Client
    strategy: Strategy
    potions_drunk: int = 0


def fresh_player(name: str, strategy: Strategy, *, url: str) -> Player:
    """A player with a new random key."""
    return Player(name, Account.create(), Client(url), strategy)


@dataclass(frozen=True, slots=True)
class Limits:
    """How long anything may take."""

    mint_seconds: float = 90
    match_seconds: float = 300


def play_story(
    *, url: str, rpc_url: str, screen: Screen, limits: Limits, dice: Random
) -> tuple[Figures, list[Step]]:
    """Play the main job from two new keys to the payout.

    Raises Stuck, and what the client raises.
    """
    with Node(rpc_url) as node:
        ann = fresh_player("Ann", CAREFUL, url=url)
        bob = fresh_player("Bob", BOLD, url=url)
        with ann.client, bob.client:
            return _Story(node, ann, bob, screen, limits, dice).play()


class _Story:
    def __init__(
        self, node: Node, ann: Player, bob: Player, screen: Screen, limits: Limits, dice: Random
    ) -> None:
        self.node, self.ann, self.bob = node, ann, bob
        self.players = (ann, bob)
        self.screen, self.limits, self.dice = screen, limits, dice
        self.steps: list[Step] = []

    def play(self) -> tuple[Figures, list[Step]]:
        self._log_in()
        at_first = self._credits()
        deposits = self._deposit()
        minted = self._credits()
        for player, deposit, credits in zip(self.players, deposits, minted, strict=True):
            self._tell(player.name, "is credited", deposit.credits_minted, credits.available)
        before = self._start_match()
        staked = self._credits()
        for player, credits in zip(self.players, staked, strict=True):
            self._tell(player.name, "has staked", -before.stake, credits.available)
        after = self._battle(before)
        at_last = self._credits()
        self._tell_end(after, staked, at_last)
        players = tuple(
            PlayerFigures(
                name=player.name,
                address=player.account.address,
                deposit=deposits[n],
                at_first=at_first[n],
                minted=minted[n],
                staked=staked[n],
                at_last=at_last[n],
                statement=tuple(reversed(list(player.client.statement()))),
            )
            for n, player in enumerate(self.players)
        )
        figures = Figures(
            stake=STAKE,
            fee_bps=before.fee_bps,
            status=after.status,
            ended_by=after.ended_by,
            winner=after.winner,
            rounds=(_play(after).a.rounds, _play(after).b.rounds),
            secret_hash_at_first=before.secret_hash,
            secret_hash=after.secret_hash,
            server_secret=after.server_secret,
            players=(players[0], players[1]),
        )
        return figures, self.steps

    def _tell(
        self, who: str, what: str, credits: int | None = None, available: int | None = None
    ) -> None:
        self.steps.append(Step(who, what, credits, available))
        self.screen.say(f"{who} {what}")

    def _credits(self) -> list[Credits]:
        return [player.client.credits() for player in self.players]

    def _log_in(self) -> None:
        for player in self.players:
            address = player.client.log_in(player.account, name="demo")
            if player.client.me() != address:
                raise Stuck(f"{player.name} logged in as {address}, but the server says otherwise.")
            self._tell(player.name, f"signs in with a new wallet, {address}")

    # --- deposits -----------------------------------------------------------------------------

    def _deposit(self) -> list[DepositFigures]:
        chain = self.ann.client.chain()
        native = _coin(chain, lambda token: token.address == NATIVE)
        erc20 = _coin(chain, lambda token: token.address != NATIVE)
        coins = (native, erc20)
        amounts = [
            wanted * coin.credit_price for wanted, coin in zip(CREDITS_BOUGHT, coins, strict=True)
        ]
        for player, coin, amount in zip(self.players, coins, amounts, strict=True):
            fund(self.node, player, coin, amount)
            gift = f"gets gas money and {coin.symbol} from the chain's first account"
            self._tell(player.name, gift)
        vault_before = [self.node.balance(chain.vault, coin.address) for coin in coins]
        sent = []
        for player, coin, amount in zip(self.players, coins, amounts, strict=True):
            sent.append(self.node.deposit(player.account, chain, coin, amount))
            shown = Decimal(amount).scaleb(-coin.decimals).normalize()
            self._tell(player.name, f"deposits {shown:f} {coin.symbol} in {sent[-1][:10]}…")
        seen = self._await_credits(sent, chain.confirmations or 1)
        return [
            DepositFigures(
                symbol=coins[n].symbol,
                decimals=coins[n].decimals,
                credits_wanted=CREDITS_BOUGHT[n],
                credit_price=coins[n].credit_price,
                amount_sent=amounts[n],
                amount_seen=seen[n].amount,
                credits_minted=seen[n].credits,
                status=seen[n].status,
                vault_before=vault_before[n],
                vault_after=self.node.balance(chain.vault, coins[n].address),
            )
            for n in range(len(self.players))
        ]

    def _await_credits(self, sent: list[str], asked: int) -> list[Deposit]:
        """Wait until the worker has minted both deposits, and show how they are confirmed."""
        deadline = time.monotonic() + self.limits.mint_seconds
        with self.screen.meter() as meter:
            while True:
                seen = [
                    self._show_deposit(meter, player, tx_hash, asked)
                    for player, tx_hash in zip(self.players, sent, strict=True)
                ]
                done = [deposit for deposit in seen if deposit and deposit.status == "credited"]
                if len(done) == len(sent):
                    return done
                if time.monotonic() > deadline:
                    raise Stuck(self._why_not_credited(seen))
                time.sleep(POLL_SECONDS)

    def _show_deposit(
        self, meter: Meter, player: Player, tx_hash: str, asked: int
    ) -> Deposit | None:
        found = (d for d in player.client.deposits() if d.tx_hash == tx_hash)
        deposit = next(found, None)
        confirmations = min(deposit.confirmations, asked) if deposit else 0
        text = f"confirmations, {deposit.status}" if deposit else "not seen by the watcher yet"
        meter(f"{player.name}'s deposit", confirmations, asked, text)
        return deposit

    def _why_not_credited(self, seen: list[Deposit | None]) -> str:
        states = ", ".join(
            f"{player.name}'s is {deposit.status if deposit else 'not seen'}"
            for player, deposit in zip(self.players, seen, strict=True)
        )
        chain = self.ann.client.chain()
        return (
            f"The deposits were not credited within {self.limits.mint_seconds:.0f} s: {states}; "
            f"block {chain.scanned_block} of {chain.head_block} has been scanned. Look at "
            f"{_log('worker')}, at {_log('beat')}, and at the chain's row in /admin/."
        )

    # --- the match ----------------------------------------------------------------------------

    def _start_match(self) -> Match:
        made = self.ann.client.create_match(stake=STAKE, visibility="invitation")
        self._tell("Ann", f"makes a match by invitation, {made.id}, for {STAKE} credits")
        if made.invitation is None:
            raise Stuck("The match's maker was given no invitation.")
        joined = self.bob.client.join_match(made.id, invitation=made.invitation)
        self._tell("Bob", "joins with the invitation")
        return joined

    def _battle(self, joined: Match) -> Match:
        """Play until the match ends by itself; return it as Ann sees it then."""
        views = {self.ann.name: self.ann.client.match(joined.id), self.bob.name: joined}
        deadline = time.monotonic() + self.limits.match_seconds
        rounds = 0
        with self.screen.meter() as meter:
            while views["Bob"].status == "running":
                if time.monotonic() > deadline:
                    raise Stuck(
                        f"The match was still running after {self.limits.match_seconds:.0f} s, in "
                        f"movement {_play(views['Bob']).movement}. Look at {_log('web')}."
                    )
                play_movement(self.players, views, self.dice)
                play = _play(views["Bob"])
                if play.a.rounds + play.b.rounds > rounds or views["Bob"].status != "running":
                    rounds = play.a.rounds + play.b.rounds
                    score = f"{play.a.rounds}:{play.b.rounds} after movement"
                    self.steps.append(Step("both", f"{score} {_ended(play, views['Bob'])}"))
                self._show(meter, play)
        return self.ann.client.match(joined.id)

    def _show(self, meter: Meter, play: Play) -> None:
        for player, ape in zip(self.players, (play.a, play.b), strict=True):
            text = "rounds won"
            if self.screen.console.is_terminal:
                text += f", movement {play.movement} in {play.phase}, health {ape.health}"
            meter(player.name, ape.rounds, FIRST_TO, text)

    def _tell_end(self, match: Match, staked: list[Credits], at_last: list[Credits]) -> None:
        drunk = " and ".join(f"{p.name} {p.potions_drunk}" for p in self.players)
        self._tell("both", f"have drunk potions: {drunk}")
        self._tell("server", f"publishes its secret, {(match.server_secret or 'none')[:16]}…")
        for n, (player, side) in enumerate(zip(self.players, ("a", "b"), strict=True)):
            gained = at_last[n].available - staked[n].available
            outcome = "wins and is paid" if match.winner == side else "loses the stake"
            self._tell(player.name, outcome, gained, at_last[n].available)


def fund(node: Node, player: Player, coin: Token, amount: int) -> None:
    """Give a new wallet what it is to deposit, and gas, out of the chain's first account."""
    accounts = node.rpc("eth_accounts")
    if not accounts:
        raise Stuck("The node has no account of its own to fund wallets from; use Anvil.")
    rich, address = accounts[0], player.account.address
    gas_money = GAS_MONEY_WEI + (amount if coin.address == NATIVE else 0)
    gifts = [{"from": rich, "to": address, "value": hex(gas_money)}]
    if coin.address != NATIVE:
        data = call_data("mint(address,uint256)", address, amount)
        gifts.append({"from": rich, "to": coin.address, "data": data})
    for gift in gifts:
        node.wait(node.rpc("eth_sendTransaction", gift))


def play_movement(players: tuple[Player, Player], views: dict[str, Match], dice: Random) -> None:
    """Drink if wanted, lock in both choices, then reveal both. Keeps each player's view current."""
    for player in players:
        view = views[player.name] = player.client.match(views[player.name].id)
        while view.you and view.play and player.strategy.is_thirsty(view.play, view.you):
            view = views[player.name] = player.client.drink(view.id)
            player.potions_drunk += 1
    for player in players:
        lock_in(player, views[player.name], dice)
    for player in players:
        views[player.name] = player.client.reveal(views[player.name].id)


def lock_in(player: Player, view: Match, dice: Random) -> Match:
    """Lock in what the player's strategy says."""
    if view.you is None:
        raise Stuck(f"{player.name} doesn't sit at match {view.id}.")
    return player.client.lock_in(view, player.strategy.choose(_play(view), view.you, dice))


def _play(match: Match) -> Play:
    if match.play is None:
        raise Stuck(f"Match {match.id} has not started.")
    return match.play


def _ended(play: Play, match: Match) -> int:
    """The movement that was just played: a match that is over stays at its last one."""
    return play.movement - (match.status == "running")


def _coin(chain: Chain, wanted: Callable[[Token], bool]) -> Token:
    token = next(filter(wanted, chain.tokens), None)
    if token is None:
        raise Stuck("The vault takes no such coin; deploy it with `manage.py deploy_vault --dev`.")
    return token


def _log(name: str) -> str:
    root = os.environ.get("DEVSTACK_ROOT")
    return f"{root}/logs/{name}.log" if root else f"the log of {name}"
