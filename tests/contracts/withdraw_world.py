"""A house that pays out: a vault with a signer and limits, and the few things players do to it."""

import json
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import connection
from eth_account import Account
from eth_account.signers.local import LocalAccount

from bas_site.audit import findings
from contracts import redemptions, signer
from contracts.models import Withdrawal
from contracts.withdrawals import request_withdrawal
from tests.contracts.world import CONFIRMATIONS, PRICE, World
from wallets import ledger
from wallets.accounts import wallet_for
from wallets.models import Account as LedgerAccount
from wallets.models import Wallet

NATIVE = "0x" + "00" * 20
PASSWORD = "of the tests"
VOUCHER_SECONDS = 24 * 3600


def write_keystore(path: Path, key: LocalAccount) -> Path:
    """An encrypted keystore that takes no time to read."""
    path.write_text(json.dumps(key.encrypt(PASSWORD, kdf="scrypt", iterations=2)))
    return path


@dataclass
class House:
    world: World
    key: LocalAccount

    @property
    def relayer(self) -> str:
        return self.world.players[8]

    def fund(self, player: str, credits_: int) -> None:
        self.world.deposit(player, credits_)
        self.world.confirm()
        self.world.scan()

    def ask(self, player: str, credits_: int = 1) -> Withdrawal:
        return request_withdrawal(wallet=wallet_for(player), credits_=credits_)

    def sign(self, withdrawal: Withdrawal) -> bool:
        return signer.sign(withdrawal.pk, self.key)

    def signed(self, player: str, credits_: int = 1) -> Withdrawal:
        withdrawal = self.ask(player, credits_)
        assert self.sign(withdrawal)
        return fresh(withdrawal)

    def call(self, withdrawal: Withdrawal, **changes: Any) -> Any:
        fields = {
            "player": withdrawal.wallet.address,
            "token": withdrawal.token.address,
            "amount": withdrawal.amount,
            "id": withdrawal.voucher,
            "deadline": withdrawal.deadline,
            "signature": withdrawal.signature,
        } | changes
        return self.world.vault.functions.withdraw(*fields.values())

    def redeem(self, withdrawal: Withdrawal, sender: str = "") -> Any:
        return self.world.send(self.call(fresh(withdrawal)), sender or self.relayer)

    def refused(self, withdrawal: Withdrawal, **changes: Any) -> bool:
        """Whether the vault refuses the voucher now."""
        try:
            self.call(fresh(withdrawal), **changes).call({"from": self.relayer})
        except Exception:
            return True
        return False

    def foreign(self, player: str, amount: int = PRICE, voucher: int = 77) -> Any:
        """What somebody does who has the signer's key, or a voucher that the books forgot."""
        deadline = self.now + 1_000
        message = {
            "domain": {
                "name": "BasVault",
                "version": "1",
                "chainId": self.world.chain.pk,
                "verifyingContract": self.world.vault.address,
            },
            "types": signer.vouchers.TYPES,
            "primaryType": "Withdraw",
            "message": {
                "player": player,
                "token": NATIVE,
                "amount": amount,
                "id": voucher,
                "deadline": deadline,
            },
        }
        signature = self.key.sign_typed_data(full_message=message).signature
        call = self.world.vault.functions.withdraw(
            player, NATIVE, amount, voucher, deadline, signature
        )
        return self.world.send(call, self.relayer)

    @property
    def now(self) -> int:
        return self.world.node.eth.get_block("latest")["timestamp"]

    def scan(self) -> None:
        self.world.scan()

    def confirm(self) -> None:
        self.world.confirm()
        self.world.scan()

    def at(self, moment: int, blocks: int = CONFIRMATIONS) -> None:
        """Let the chain's clock reach a second, in a block that is confirmed."""
        self.world.chain_node.rpc("evm_setNextBlockTimestamp", moment)
        self.world.mine(blocks)
        self.world.scan()

    def expire(self, withdrawal: Withdrawal) -> None:
        self.at(max(fresh(withdrawal).deadline, self.now) + 1)

    def sweep(self) -> int:
        return redemptions.give_back_expired(self.world.chain)

    def own(self, name: str, *args: Any) -> None:
        self.world.send(self.world.vault.functions[name](*args), self.world.owner)

    def balance(self, player: str, kind: str = "available") -> int:
        accounts = LedgerAccount.objects.filter(wallet__address=player, kind=kind)
        return sum(account.balance for account in accounts)

    def coins(self, player: str) -> int:
        return self.world.node.eth.get_balance(player)

    @contextmanager
    def undone(self):
        with self.world.undone():
            yield

    def red(self) -> list[str]:
        """The truths that the audit finds broken."""
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        return [str(f) for f in findings(whole=True) if not f.is_green]


def fresh(withdrawal: Withdrawal) -> Withdrawal:
    return Withdrawal.objects.select_related("wallet", "token__vault__chain").get(pk=withdrawal.pk)


def status(withdrawal: Withdrawal) -> str:
    return fresh(withdrawal).status


def hold(withdrawal: Withdrawal) -> str:
    return fresh(withdrawal).hold


def new_house(world: World) -> House:
    key = Account.create()
    house = House(world, key)
    house.own("setSigner", key.address)
    house.own("setDailyLimit", NATIVE, 10_000 * PRICE)
    house.own("setDailyLimit", world.token.address, 10**12)
    world.scan()
    return house


def operator(*permissions: str) -> Wallet:
    from django.contrib.auth.models import Permission

    made = Wallet.objects.create(username=f"op{Wallet.objects.count()}", is_staff=True)
    made.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    return Wallet.objects.get(pk=made.pk)


def vault_balance() -> int:
    return ledger.balance(ledger.system_account(LedgerAccount.Kind.VAULT))
