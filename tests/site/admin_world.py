"""A small world for the console's tests: something of everything, secrets included."""

from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cache
from itertools import count

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import Group
from django.contrib.contenttypes.models import ContentType
from django.utils import timezone
from eth_utils.address import to_checksum_address

from contracts.models import (
    NATIVE,
    Block,
    Chain,
    Deposit,
    Node,
    Redemption,
    Rescan,
    Token,
    Vault,
    Withdrawal,
)
from contracts.withdrawals import pending_account
from engine import Choice
from matches import battle, leaderboard, lobby
from matches.models import Event, Heartbeat, Match, Outage
from matches.sealing import unseal
from wallets import ledger
from wallets.accounts import wallet_for
from wallets.ledger import Draft, Leg
from wallets.login import issue_token
from wallets.models import Account, Adjustment, Asset, AuditRun, Seal, Transfer, Wallet

WEI = 10**18
_numbers = count(1)


def number() -> int:
    return next(_numbers)


def a_hash() -> str:
    return f"0x{number():064x}"


def an_address() -> str:
    # Letters enough for its checksum to have both cases.
    return to_checksum_address(f"0xabcdefabcdefabcdefabcdef{number():016x}")


def a_player(credits_: int = 1_234_567) -> Wallet:
    wallet = wallet_for(an_address())
    ledger.mint(wallet=wallet, credits_=credits_, key=f"gift:{wallet.pk}")
    return wallet


def an_operator(*, superuser: bool = False, **fields) -> Wallet:
    name = fields.pop("username", f"op{number()}")
    return Wallet.objects.create(
        username=name,
        is_staff=True,
        is_superuser=superuser,
        password=a_password_hash() if superuser else make_password(None),
        **fields,
    )


@cache
def a_password_hash() -> str:
    """Slow to make, as it should be."""
    return make_password("correct horse battery staple")


def a_chain() -> Chain:
    return Chain.objects.create(
        id=900_000 + number(),
        name="testchain",
        confirmations=3,
        genesis_hash=a_hash(),
        scanned_block=1_000,
        scanned_hash=a_hash(),
        head_block=1_002,
        block_range=500,
        scanned_at=timezone.now(),
    )


def a_token(vault: Vault, address: str) -> Token:
    return Token.objects.create(
        vault=vault, address=address, symbol="ETH", decimals=18, credit_price=WEI // 1_000
    )


def a_vault(chain: Chain, *, tokens: int = 1) -> Vault:
    vault = Vault.objects.create(
        chain=chain, address=an_address(), deployed_block=7, current=not chain.vaults.exists()
    )
    for n in range(tokens):
        a_token(vault, an_address() if n else NATIVE)
    return vault


def a_deposit(vault: Vault, wallet: Wallet, *, credits_: int = 1_500) -> Deposit:
    deposit = Deposit.objects.create(
        vault=vault,
        token=vault.tokens.first(),
        wallet=wallet,
        number=number(),
        amount=credits_ * WEI // 1_000,
        credits=credits_,
        tx_hash=a_hash(),
        log_index=0,
        block_number=1_001,
        block_hash=a_hash(),
    )
    receipt = ledger.mint(wallet=wallet, credits_=credits_, key=f"deposit:{deposit.tx_hash}")
    Deposit.objects.filter(pk=deposit.pk).update(
        status="credited", transfer=receipt.transfer_id, credited_at=timezone.now()
    )
    deposit.refresh_from_db()
    return deposit


def a_withdrawal(vault: Vault, wallet: Wallet, *, status: str = "requested") -> Withdrawal:
    return Withdrawal.objects.create(
        wallet=wallet,
        token=vault.tokens.first(),
        credits=1_500,
        amount=1_500 * WEI // 1_000,
        voucher=number(),
        status=status,
        hold="approval" if status == "requested" else "",
    )


def hold_credits(withdrawal: Withdrawal) -> None:
    """Hold them, as of one that a player has asked for."""
    ledger.move(
        kind=Transfer.Kind.WITHDRAWAL,
        key=f"withdrawal:{withdrawal.pk}",
        source=ledger.player_account(withdrawal.wallet),
        target=pending_account(withdrawal),
        amount=withdrawal.credits,
    )


def a_redemption(vault: Vault, withdrawal: Withdrawal | None = None) -> Redemption:
    """Of a voucher that the books know nothing of, unless a withdrawal is named."""
    return Redemption.objects.create(
        vault=vault,
        withdrawal=withdrawal,
        voucher=withdrawal.voucher if withdrawal else number(),
        player=an_address(),
        token=NATIVE,
        amount=WEI,
        tx_hash=a_hash(),
        log_index=0,
        block_number=1_001,
        block_hash=a_hash(),
        trouble="" if withdrawal else "No withdrawal has this voucher.",
    )


def a_running_match(*, visibility: str = "invitation") -> Match:
    """A match in which ape a has locked in its first choice, in one step."""
    a, b = a_player(), a_player()
    match = lobby.create_match(wallet=a, stake=1_000, visibility=visibility)
    match = lobby.join_match(wallet=b, match_id=match.pk, invitation=match.invitation)
    battle.play(wallet=a, match_id=match.pk, movement=1, choice=Choice("paper"))
    match.refresh_from_db()
    return match


def an_ended_match() -> Match:
    match = a_running_match(visibility="open")
    battle.resign(wallet=match.seats.get(side="a").wallet, match_id=match.pk)
    match.refresh_from_db()
    return match


@dataclass
class World:
    """Rows of each model; `grow` adds as many again of what lists and pages are made of."""

    superuser: Wallet = field(default_factory=lambda: an_operator(superuser=True))
    secrets: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.chain = a_chain()
        self.vault = a_vault(self.chain)
        self.player = a_player()
        self.deposit = a_deposit(self.vault, self.player)
        self.withdrawal = a_withdrawal(self.vault, self.player)
        self.redemption = a_redemption(self.vault)
        Heartbeat.objects.create(beat_at=timezone.now())
        self.running = a_running_match()
        self.ended = an_ended_match()
        self.group = Group.objects.create(name="support")
        self.many_legs = self.a_transfer_of(2)
        self.grow(1)
        self._remember_secrets()

    def a_transfer_of(self, legs: int) -> Transfer:
        vault = ledger.system_account(Account.Kind.VAULT)
        players = [ledger.player_account(a_player()) for _ in range(legs)]
        (receipt,) = ledger.post(
            Draft(
                key=f"adjustment:{number()}",
                kind=Transfer.Kind.ADJUSTMENT,
                legs=[Leg(vault.pk, -legs), *(Leg(account.pk, 1) for account in players)],
            )
        )
        return Transfer.objects.get(pk=receipt.transfer_id)

    def grow(self, rows: int) -> None:
        token_text = ""
        for _ in range(rows):
            chain = a_chain()
            a_vault(chain)
            a_vault(self.chain)
            a_token(self.vault, an_address())
            Block.objects.create(
                chain=self.chain, number=number(), hash=a_hash(), timestamp=timezone.now()
            )
            a_deposit(self.vault, self.player)
            a_redemption(self.vault, a_withdrawal(self.vault, self.player, status="redeemed"))
            Node.objects.create(
                chain=chain,
                place=1,
                failures={"time_out": 2},
                last_cause="time_out",
                failed_at=timezone.now(),
            )
            Rescan.objects.create(
                chain=self.chain, first=1, last=9, next_block=1, asked_by=self.superuser
            )
            Outage.objects.create(
                began_at=timezone.now() - timedelta(minutes=2), ended_at=timezone.now()
            )
            Asset.objects.create(code=f"gem{number()}", name="Gems")
            Adjustment.objects.create(
                wallet=self.player, amount=number(), reason="bonus", proposed_by=self.superuser
            )
            AuditRun.objects.create(
                started_at=timezone.now(),
                finished_at=timezone.now(),
                whole=False,
                broken=0,
                findings=[],
            )
            Seal.objects.create(
                day=date(2026, 1, 1) + timedelta(days=number()),
                posting=number(),
                transfer=1,
                postings=1,
                system_balances={},
                hash=64 * "0",
                sealed_at=timezone.now(),
            )
            match = an_ended_match()
            leaderboard.rate(match_id=match.pk)
            n = self.running.events.count()
            Event.objects.create(
                match=self.running,
                n=n,
                body={"type": "potion", "ape": "a"},
                chain_hash=match.chain_hash,
            )
            Match.objects.filter(pk=self.running.pk).update(event_count=n + 1)
            token_text, _row = issue_token(wallet=self.player, name="bot")
            self.group.user_set.add(an_operator())
            Group.objects.create(name=f"group {number()}")
            LogEntry.objects.create(
                user=self.superuser,
                content_type=ContentType.objects.get_for_model(Wallet),
                object_id=str(self.player.pk),
                object_repr=str(self.player),
                action_flag=CHANGE,
            )
        self.secrets["bearer token"] = token_text

    def _remember_secrets(self) -> None:
        token = self.player.tokens.last()
        lock = self.running.lock_ins.get()
        self.secrets |= {
            "token hash": bytes(token.token_hash).hex(),
            "sealed server secret": bytes(self.running.sealed_secret).decode(),
            "server secret": unseal(self.running.sealed_secret),
            "invitation": self.running.invitation,
            "sealed choice": bytes(lock.sealed_choice).decode(),
            "salt of the choice": unseal(lock.sealed_choice)["salt"],
            "choice": "paper",
            "password hash": self.superuser.password,
            "salt of the password": self.superuser.password.split("$")[2],
        }
