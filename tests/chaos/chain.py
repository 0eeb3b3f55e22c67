"""Players on the chain, and a chain that keeps changing its mind."""

import random
from dataclasses import dataclass, field
from typing import Any

from web3.contract import Contract

from tests.contracts.world import GAS, PRICE, TOKEN_PRICE, World

DEEPEST_REORG = 24


@dataclass
class Snapshot:
    """A point that the chain may go back to, and what was sent since."""

    id: str
    head: int
    sent: list[tuple[str, bytes]] = field(default_factory=list)


class Players:
    """Makes deposits of every kind, and reorganisations of random depth."""

    def __init__(self, world: World, dice: random.Random) -> None:
        self.world = world
        self.dice = dice
        self.forwarder: Contract = world.deploy_test("Forwarder")
        self.snapshots: list[Snapshot] = []
        self.deposits = 0
        self.reorgs = 0
        self.deepest = 0
        self.highest = 0
        self.first = world.head

    def deposit(self) -> None:
        """One deposit, or a few in one transaction."""
        credits_ = self.dice.randint(1, 50)
        player = self.dice.choice(self.world.players)
        match self.dice.randrange(6):
            case 0:
                self.deposits += 1
                self.world.deposit(player, credits_)
            case 1:
                self.deposits += 1
                self.world.deposit_token(player, credits_ * TOKEN_PRICE)
            case 2:
                # A contract's own deposits, several in one transaction.
                data = self.world.vault.encode_abi("deposit")
                shares = [self.dice.randint(1, 9) for _ in range(self.dice.randint(2, 4))]
                self.deposits += len(shares)
                calls = [(self.world.vault.address, share * PRICE, data) for share in shares]
                call = self.forwarder.functions.multicall(calls)
                self.world.send(call, player, sum(shares) * PRICE)
            case 3:
                self.deposits += 1
                fields = {"from": player, "to": self.world.vault.address, "gas": GAS}
                sent = self.world.node.eth.send_transaction(fields | {"value": credits_ * PRICE})
                self.world.mined(sent)
            case _:
                # Signed beforehand, so that it can come back after the chain forgot it.
                self.deposits += 1
                signer = self.world.newcomer()
                raw = self.world.signed_deposit(signer, credits_)
                self.world.send_raw(raw)
                for snapshot in self.snapshots:
                    snapshot.sent.append((signer.address, raw))
        self.highest = max(self.highest, self.world.head)

    def mine(self) -> None:
        """A few empty blocks."""
        self.world.mine(self.dice.randint(1, 4))
        self.highest = max(self.highest, self.world.head)

    def remember(self) -> None:
        """Take a snapshot."""
        self.snapshots.append(Snapshot(self.world.chain_node.rpc("evm_snapshot"), self.world.head))

    def reorganise(self) -> None:
        """Go back to a snapshot; some of what was sent since comes back in other blocks."""
        head = self.world.head
        near = [i for i, s in enumerate(self.snapshots) if 0 < head - s.head <= DEEPEST_REORG]
        if not near:
            self.remember()
            return
        place = self.dice.choice(near)
        snapshot = self.snapshots[place]
        # The node forgets the snapshots taken after one that it goes back to, and that one too.
        del self.snapshots[place:]
        if not self.world.chain_node.rpc("evm_revert", snapshot.id):
            raise RuntimeError("The chain would not go back.")
        self.world.chain_node.rpc("evm_increaseTime", self.dice.randint(1, 100))
        self.reorgs += 1
        self.deepest = max(self.deepest, head - snapshot.head)
        self.mine()
        again = [sent for sent in snapshot.sent if self.dice.random() < 0.6]
        self.dice.shuffle(again)
        for sender, raw in again:
            if self.dice.random() < 0.3:
                self.mine()
            # The node forgot that they were given coins, too.
            self.world.chain_node.set_balance(sender, 10**21)
            self.world.send_raw(raw)
        self.highest = max(self.highest, self.world.head)

    def settle(self) -> None:
        """End above every block ever seen, with all confirmations given."""
        self.world.mine(max(1, self.highest - self.world.head) + 10)

    def lost(self) -> str:
        """What the node itself lost of its own chain, asked without our code; nothing, mostly."""
        ask = self.world.chain_node.rpc
        numbers = range(self.first, self.world.head + 1)
        if gone := [n for n in numbers if ask("eth_getBlockByNumber", hex(n), False) is None]:
            return f"blocks {gone[0]} to {gone[-1]}"
        made = self.world.vault.functions.depositCount().call()
        told = [event["args"]["id"] for event in self._deposited()]
        if told != list(range(1, made + 1)):
            return f"events: of {made} deposits it tells of {len(told)}"
        return ""

    def _deposited(self) -> Any:
        return self.world.vault.events.Deposited().get_logs(from_block=0)

    def truth(self) -> dict[str, int]:
        """Each player's credits as the vault's own history tells them, read without our code."""
        credits_: dict[str, int] = {}
        for event in self._deposited():
            paid = event["args"]
            native = int(paid["token"], 16) == 0
            worth = paid["amount"] // (PRICE if native else TOKEN_PRICE)
            credits_[paid["player"]] = credits_.get(paid["player"], 0) + worth
        return credits_
