"""Who you are (a wallet) and what you own (the ledger).

The ledger's tables are written by the SQL function `ledger_post` alone (wallets/sql); triggers and
grants there refuse everything else. The models below only describe them.
"""

from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower

from wallets.fields import WholeNumberField


class WalletManager(BaseUserManager["Wallet"]):
    """Makes operators, for `createsuperuser`; players come from `accounts.wallet_for`."""

    def create_superuser(self, username: str, password: str, **fields: Any) -> "Wallet":
        """Create an operator who may do everything in the admin console."""
        operator = self.model(username=username, is_staff=True, is_superuser=True, **fields)
        operator.set_password(password)
        operator.save()
        return operator


class Wallet(AbstractBaseUser, PermissionsMixin):
    """A player, known by an address alone, or an operator, known by a username and a password."""

    address = models.CharField(
        max_length=42, unique=True, null=True, blank=True, help_text="EIP-55 form"
    )
    username = models.CharField(max_length=150, unique=True, null=True, blank=True)
    is_staff = models.BooleanField("operator", default=False)
    is_active = models.BooleanField("may log in", default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = WalletManager()

    USERNAME_FIELD = "username"

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="wallet_is_a_player_or_an_operator",
                condition=Q(address__isnull=False, username=None, is_staff=False)
                | Q(address=None, username__isnull=False, is_staff=True),
            ),
            models.CheckConstraint(
                name="wallet_address_is_an_address",
                condition=Q(address=None) | Q(address__regex=r"^0x[0-9a-fA-F]{40}$"),
            ),
            # One wallet for each twenty bytes, however the letters are cased.
            models.UniqueConstraint(Lower("address"), name="wallet_address_bytes_unique"),
        ]

    def __str__(self) -> str:
        return self.address or self.username or f"wallet {self.pk}"


class LoginNonce(models.Model):
    """A challenge for one login, good for one use in the browser session that asked for it."""

    nonce = models.CharField(max_length=32, primary_key=True)
    session_key = models.CharField(max_length=40)
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"a nonce until {self.expires_at}"


class BearerToken(models.Model):
    """A program's way in. Only the token's SHA-256 is kept."""

    wallet = models.ForeignKey(Wallet, on_delete=models.CASCADE, related_name="tokens")
    token_hash = models.BinaryField(max_length=32, unique=True, editable=False)
    name = models.CharField(max_length=80)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.name


class IdempotencyKey(models.Model):
    """The stored answer to a write, kept in the transaction of the write itself."""

    wallet = models.ForeignKey(Wallet, on_delete=models.CASCADE)
    key = models.CharField(max_length=255)
    request_hash = models.BinaryField(max_length=32)
    status = models.PositiveSmallIntegerField()
    body = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["wallet", "key"], name="idempotency_key_once")
        ]

    def __str__(self) -> str:
        return self.key


class Asset(models.Model):
    """What accounts are kept in. Credits are one; another is another row."""

    code = models.CharField(max_length=16, primary_key=True)
    name = models.CharField(max_length=80)

    def __str__(self) -> str:
        return self.code


class Account(models.Model):
    """A place that credits can be in.

    A *kept* account carries its balance and a version that counts its postings. System accounts
    take part in nearly every transfer, so they carry none (it would be a queue): their balance is
    the sum of their postings, rolled up now and then (`ledger_roll_up`).
    """

    class Kind(models.TextChoices):
        AVAILABLE = "available", "a player's own credits"
        ESCROW = "escrow", "stakes of one match"
        PENDING = "pending", "one withdrawal on its way out"
        VAULT = "vault", "the other side of deposits and withdrawals"
        FEES = "fees", "the house's income"
        HOUSE = "house", "the other side of adjustments"

    SYSTEM = (Kind.VAULT, Kind.FEES, Kind.HOUSE)

    asset = models.ForeignKey(Asset, on_delete=models.PROTECT)
    kind = models.CharField(max_length=16, choices=Kind)
    key = models.CharField(max_length=80, help_text="what it is for, e.g. wallet:12")
    wallet = models.ForeignKey(
        Wallet, on_delete=models.PROTECT, null=True, blank=True, related_name="accounts"
    )
    balance = WholeNumberField(default=0)
    version = models.BigIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["asset", "key"], name="account_key_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.key} ({self.asset_id})"


class Transfer(models.Model):
    """A movement of credits between accounts: its postings sum to zero. Never changed."""

    class Kind(models.TextChoices):
        DEPOSIT = "deposit", "deposit"
        DEPOSIT_REVERSAL = "deposit_reversal", "deposit taken back by the chain"
        STAKE = "stake", "stake"
        REFUND = "refund", "stake given back"
        PAYOUT = "payout", "payout"
        ADJUSTMENT = "adjustment", "adjustment"
        REVERSAL = "reversal", "reversal"

    key = models.CharField(max_length=200, unique=True, help_text="its cause, e.g. payout:<match>")
    kind = models.CharField(max_length=20, choices=Kind)
    memo = models.TextField(blank=True)
    reverses = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, blank=True, related_name="reversals"
    )
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.key


class Posting(models.Model):
    """One leg of a transfer. On a kept account it carries the balance before and after it."""

    # No foreign keys in Postgres: their checks would lock the row of a busy system account in every
    # transfer. `ledger_check_posting` holds both references, and neither row can ever be deleted.
    transfer = models.ForeignKey(
        Transfer, on_delete=models.PROTECT, related_name="postings", db_constraint=False
    )
    account = models.ForeignKey(
        Account,
        on_delete=models.PROTECT,
        related_name="postings",
        db_constraint=False,
        db_index=False,
    )
    amount = WholeNumberField()
    version = models.BigIntegerField(null=True)
    previous_balance = WholeNumberField(null=True)
    balance = WholeNumberField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["account", "version"],
                name="posting_account_version",
                condition=Q(version__isnull=False),
            ),
            models.CheckConstraint(name="posting_moves_something", condition=~Q(amount=0)),
            models.CheckConstraint(
                name="posting_balance_follows",
                condition=Q(version=None, previous_balance=None, balance=None)
                | Q(version__gte=1, balance=models.F("previous_balance") + models.F("amount")),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.amount:+d} on account {self.account_id}"
