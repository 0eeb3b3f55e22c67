"""Who you are (a wallet) and what you own (the ledger).

The ledger's tables are written by the SQL function `ledger_post` alone (wallets/sql); triggers and
grants there refuse everything else. The models below only describe them.
"""

from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.contrib.postgres.functions import RandomUUID
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils import timezone

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
        permissions = [("freeze_wallet", "Can freeze and thaw a player's wallet")]
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
    """A challenge that has been used: no second login with it."""

    nonce = models.CharField(max_length=32, primary_key=True)
    session_key = models.CharField(max_length=40)
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"a nonce until {self.expires_at}"


class Login(models.Model):
    """What its owner is shown of a session or a token, to tell it from the others by."""

    login_id = models.UUIDField(db_default=RandomUUID(), unique=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(default=timezone.now, help_text="to some minutes")
    user_agent = models.CharField(max_length=200, blank=True)
    address_prefix = models.CharField(
        max_length=50, blank=True, help_text="the network that it came from"
    )

    class Meta:
        abstract = True


class BearerToken(Login):
    """A program's way in. Only the token's SHA-256 is kept."""

    class Scope(models.TextChoices):
        """What a token may do; each may all that those before it may."""

        READ = "read", "look"
        PLAY = "play", "stake and play"
        MONEY = "money", "withdraw, and manage logins"

    wallet = models.ForeignKey(Wallet, on_delete=models.CASCADE, related_name="tokens")
    token_hash = models.BinaryField(max_length=32, unique=True, editable=False)
    name = models.CharField(max_length=80)
    scope = models.CharField(max_length=5, choices=Scope, default=Scope.PLAY)
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.name

    def may(self, needed: str) -> bool:
        """Whether the token's scope reaches as far as the one that is needed."""
        ladder = self.Scope.values
        return ladder.index(self.scope) >= ladder.index(needed)


class Session(Login, AbstractBaseSession):
    """A browser's way in; `wallets.sessions` keeps it."""

    wallet = models.ForeignKey(Wallet, on_delete=models.CASCADE, null=True, related_name="sessions")

    def __str__(self) -> str:
        return f"a session of {self.wallet or 'nobody'}"

    def save(self, **options: Any) -> None:
        """Write the row; a session that is written again keeps what its owner is shown of it."""
        if options.get("force_update"):
            options["update_fields"] = ["session_data", "expire_date"]
        super().save(**options)


class Service(models.Model):
    """What players use and operators may pause."""

    class Name(models.TextChoices):
        DEPOSITS = "deposits", "deposits"
        WITHDRAWALS = "withdrawals", "withdrawals"
        MATCHES = "matches", "new matches"

    name = models.CharField(max_length=16, primary_key=True, choices=Name)
    pause_reason = models.CharField(
        max_length=300, blank=True, help_text="shown to players; empty while it runs"
    )
    changed_by = models.ForeignKey(Wallet, on_delete=models.PROTECT, null=True, related_name="+")
    changed_at = models.DateTimeField(null=True)

    class Meta:
        permissions = [("pause_service", "Can pause deposits, withdrawals or new matches")]

    def __str__(self) -> str:
        return self.get_name_display()


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
        WITHDRAWAL = "withdrawal", "withdrawal"
        WITHDRAWAL_RETURN = "withdrawal_return", "withdrawal given back"
        WITHDRAWAL_PAID = "withdrawal_paid", "withdrawal paid"

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
    # transfer. `ledger_check_postings` holds both references, and neither row can ever be deleted.
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


class Seal(models.Model):
    """A day's postings under one hash, chained to the seal before. Never changed.

    Whoever keeps a copy of one hash can tell whether anything up to it has been altered since.
    """

    day = models.DateField(unique=True, help_text="the UTC day that had ended")
    posting = models.BigIntegerField(help_text="the last one under the seal")
    transfer = models.BigIntegerField(help_text="the newest one that has postings under the seal")
    postings = models.BigIntegerField("number of postings")
    system_balances = models.JSONField(help_text="of each system account, by id, as text")
    hash = models.CharField(max_length=64, help_text="SHA-256 over the hash before and the rows")
    sealed_at = models.DateTimeField()

    class Meta:
        ordering = ["day"]

    def __str__(self) -> str:
        return f"{self.day} {self.hash}"


class AuditRun(models.Model):
    """What an audit found."""

    started_at = models.DateTimeField(db_index=True)
    finished_at = models.DateTimeField()
    whole = models.BooleanField(help_text="from the first posting, not from the last seal")
    broken = models.PositiveIntegerField("checks that failed")
    unseen = models.PositiveIntegerField(
        "checks that could not be made", default=0, db_default=0, help_text="no node answered"
    )
    findings = models.JSONField(help_text="each truth, and the first rows that break it")

    class Meta:
        permissions = [("run_auditrun", "Can have the books audited")]

    def __str__(self) -> str:
        return f"{self.started_at:%Y-%m-%d %H:%M} {self.result}"

    @property
    def result(self) -> str:
        """Green, or how much of it is red or was not seen."""
        if self.broken:
            return f"red: {self.broken} checks failed"
        return f"green, but for {self.unseen} that could not be made" if self.unseen else "green"


class Snapshot(models.Model):
    """What the house's figures were at a moment; the console's charts are drawn from them."""

    at = models.DateTimeField(primary_key=True)
    figures = models.JSONField(help_text="whole numbers, by name")

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M}"


class Adjustment(models.Model):
    """Credits that operators give or take by hand: one proposes, another approves."""

    class Status(models.TextChoices):
        PROPOSED = "proposed", "proposed"
        APPROVED = "approved", "approved"
        REJECTED = "rejected", "rejected"

    asset = models.ForeignKey(Asset, on_delete=models.PROTECT, default="credits")
    wallet = models.ForeignKey(Wallet, on_delete=models.PROTECT, related_name="adjustments")
    amount = WholeNumberField(help_text="credits to give; below zero, to take")
    reason = models.TextField(help_text="shown to the player in the statement")
    status = models.CharField(max_length=10, choices=Status, default=Status.PROPOSED)
    proposed_by = models.ForeignKey(Wallet, on_delete=models.PROTECT, related_name="+")
    proposed_at = models.DateTimeField(auto_now_add=True)
    decided_by = models.ForeignKey(Wallet, on_delete=models.PROTECT, null=True, related_name="+")
    decided_at = models.DateTimeField(null=True)
    transfer = models.OneToOneField(Transfer, on_delete=models.PROTECT, null=True)

    class Meta:
        permissions = [
            ("propose_adjustment", "Can propose an adjustment of a player's credits"),
            ("decide_adjustment", "Can approve or reject another operator's adjustment"),
        ]
        constraints = [
            models.CheckConstraint(name="adjustment_moves_something", condition=~Q(amount=0)),
            models.CheckConstraint(name="adjustment_has_a_reason", condition=~Q(reason="")),
            models.CheckConstraint(
                name="adjustment_approved_by_a_second_operator",
                condition=Q(status="proposed", decided_by=None, transfer=None)
                | Q(status="rejected", decided_by__isnull=False, transfer=None)
                | (
                    Q(status="approved", decided_by__isnull=False, transfer__isnull=False)
                    & ~Q(decided_by=models.F("proposed_by"))
                ),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.amount:+d} for {self.wallet}"
