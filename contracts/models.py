"""What is known of the chain, and how far it has been read."""

from datetime import UTC, datetime
from typing import Any

from django.db import models
from django.db.models import Q

from wallets.fields import WholeNumberField
from wallets.models import Transfer, Wallet

NATIVE = "0x0000000000000000000000000000000000000000"
# Later than any date that there is; a chain of development may be anywhere in time.
LAST_SECOND = int(datetime.max.replace(tzinfo=UTC).timestamp())


class AddressField(models.CharField):
    """An address in EIP-55 form."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **(kwargs | {"max_length": 42}))


class HashField(models.CharField):
    """A 32-byte hash as 0x and 64 lower-case hex digits."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **(kwargs | {"max_length": 66}))


class Chain(models.Model):
    """A chain that is watched, and the cursor of the watcher.

    The cursor is the last block that was scanned, by number and hash; the next scan first makes
    sure that the chain still has that block.
    """

    class Finality(models.TextChoices):
        CONFIRMATIONS = "confirmations", "so many confirmations"
        SAFE = "safe", "the node's safe block"
        FINALIZED = "finalized", "the node's finalized block"

    id = models.BigIntegerField("chain id", primary_key=True, help_text="EIP-155")
    name = models.CharField(max_length=80)
    finality = models.CharField(
        max_length=13,
        choices=Finality,
        default=Finality.CONFIRMATIONS,
        help_text="what makes a deposit count",
    )
    confirmations = models.PositiveIntegerField(
        help_text="a deposit counts when its block and this many in all are on the chain"
    )
    genesis_hash = HashField()
    scanned_block = models.BigIntegerField("last scanned block")
    scanned_hash = HashField("its hash")
    head_block = models.BigIntegerField("newest block seen", default=0)
    head_timestamp = models.DateTimeField("its time", null=True)
    final_block = models.BigIntegerField(
        "newest final block", default=-1, help_text="by the node's tag; -1 where no tag is asked"
    )
    reorgs = models.PositiveIntegerField("reorganisations seen", default=0)
    deepest_reorg = models.PositiveIntegerField(default=0, help_text="in blocks")
    block_range = models.PositiveIntegerField(
        help_text="blocks asked for at once; halved when a node refuses, and grown again"
    )
    paused = models.BooleanField(default=False)
    trouble = models.TextField(
        blank=True, help_text="why the last scan stopped; empty when it went well"
    )
    scanned_at = models.DateTimeField("last scan", null=True)

    class Meta:
        permissions = [("rescan_chain", "Can have a range of blocks read again")]

    def __str__(self) -> str:
        return f"{self.name} ({self.pk})"

    @property
    def counting_block(self) -> int:
        """Deposits up to this block count. Never above the cursor: only what was read, and is
        known by its hash, may count."""
        if self.finality == self.Finality.CONFIRMATIONS:
            return self.scanned_block - self.confirmations + 1
        return min(self.final_block, self.scanned_block)

    @property
    def confirmations_asked(self) -> int | None:
        """Confirmations that make a deposit count; None where the node's tagged block does."""
        by_number = self.finality == self.Finality.CONFIRMATIONS
        return self.confirmations if by_number else None

    def confirmations_of(self, block_number: int) -> int:
        """Blocks from this one, counted in, to the last one read; at most those asked for."""
        so_far = max(0, self.scanned_block - block_number + 1)
        asked = self.confirmations_asked
        return so_far if asked is None else min(so_far, asked)


class Rescan(models.Model):
    """A range of blocks that an operator wants read again, and how far that is."""

    chain = models.ForeignKey(Chain, on_delete=models.PROTECT, related_name="rescans")
    first = models.BigIntegerField("first block")
    last = models.BigIntegerField("last block")
    asked_by = models.ForeignKey(Wallet, on_delete=models.PROTECT, related_name="+")
    asked_at = models.DateTimeField(auto_now_add=True)
    next_block = models.BigIntegerField(help_text="those below it have been read again")
    missing = models.PositiveIntegerField(
        "deposits that were missing", default=0, help_text="and are stored now"
    )
    trouble = models.TextField(blank=True, help_text="why it does not go on at the moment")
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="rescan_is_a_range", condition=Q(first__gte=0, last__gte=models.F("first"))
            )
        ]
        indexes = [
            models.Index(fields=["chain"], condition=Q(ended_at=None), name="rescan_to_be_done")
        ]

    def __str__(self) -> str:
        return f"blocks {self.first} to {self.last} of {self.chain_id}"


class Node(models.Model):
    """How a node of a chain has done. It is known by its place among the chain's RPC URLS: the URL
    itself holds a key, and is kept in the settings alone."""

    chain = models.ForeignKey(Chain, on_delete=models.CASCADE, related_name="nodes")
    place = models.PositiveSmallIntegerField(help_text="counted from 1")
    failures = models.JSONField(default=dict, help_text="how many there were, by cause")
    failures_in_a_row = models.PositiveIntegerField(default=0)
    failed_at = models.DateTimeField(null=True)
    last_cause = models.CharField(max_length=32, blank=True, help_text="of its last failure")
    answered_at = models.DateTimeField(null=True)
    rests_until = models.DateTimeField(null=True, help_text="not asked before")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["chain", "place"], name="node_place_unique")]

    def __str__(self) -> str:
        return f"node {self.place} of {self.chain_id}"


class Vault(models.Model):
    """A deployed BasVault. An old one is still watched after a new one takes its place."""

    chain = models.ForeignKey(Chain, on_delete=models.PROTECT, related_name="vaults")
    address = AddressField()
    deployed_block = models.BigIntegerField()
    current = models.BooleanField(default=True, help_text="the one that players are sent to")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["chain", "address"], name="vault_address_unique"),
            models.UniqueConstraint(
                fields=["chain"], condition=Q(current=True), name="vault_one_current_a_chain"
            ),
        ]

    def __str__(self) -> str:
        return self.address


class Token(models.Model):
    """A coin that a vault takes, at a price that the vault fixes for ever."""

    vault = models.ForeignKey(Vault, on_delete=models.PROTECT, related_name="tokens")
    address = AddressField(help_text="the zero address for the chain's own coin")
    symbol = models.CharField(max_length=32)
    decimals = models.PositiveSmallIntegerField()
    credit_price = WholeNumberField(help_text="of one credit, in the token's smallest unit")
    held = WholeNumberField(default=0, help_text="by the vault, when last looked at")
    held_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["vault", "address"], name="token_address_unique"),
            models.CheckConstraint(name="token_has_a_price", condition=Q(credit_price__gt=0)),
        ]

    def __str__(self) -> str:
        return self.symbol


class Block(models.Model):
    """The last block of a range that was read: what a reorganisation can be traced back to."""

    chain = models.ForeignKey(Chain, on_delete=models.PROTECT, related_name="blocks")
    number = models.BigIntegerField()
    hash = HashField()
    timestamp = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["chain", "number"], name="block_number_unique")
        ]

    def __str__(self) -> str:
        return f"{self.number} {self.hash}"


class Deposit(models.Model):
    """A `Deposited` event of a known vault, as seen in one block.

    One that fell out of the chain stays as it was; if it comes back, in whichever block, that is
    another row, credited anew.
    """

    class Status(models.TextChoices):
        PENDING = "pending", "waiting for confirmations"
        CREDITED = "credited", "credited"
        WORTHLESS = "worthless", "less than one credit"
        ORPHANED = "orphaned", "fell out of the chain"

    vault = models.ForeignKey(Vault, on_delete=models.PROTECT, related_name="deposits")
    token = models.ForeignKey(Token, on_delete=models.PROTECT)
    wallet = models.ForeignKey(Wallet, on_delete=models.PROTECT, related_name="deposits")
    number = WholeNumberField("vault's id", help_text="counted by the vault, from 1")
    amount = WholeNumberField(help_text="in the token's smallest unit")
    credits = WholeNumberField()
    tx_hash = HashField()
    log_index = models.PositiveIntegerField()
    block_number = models.BigIntegerField()
    block_hash = HashField()
    status = models.CharField(max_length=10, choices=Status, default=Status.PENDING)
    transfer = models.OneToOneField(
        Transfer, on_delete=models.PROTECT, null=True, related_name="deposit"
    )
    seen_at = models.DateTimeField(auto_now_add=True)
    credited_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["vault", "block_hash", "log_index"],
                condition=~Q(status="orphaned"),
                name="deposit_seen_once",
            ),
            # The chain holds an event once. The vault counts its deposits, so that this holds even
            # for a transaction that a reorg moves to another block and another place in it.
            models.UniqueConstraint(
                fields=["vault", "number"],
                condition=~Q(status="orphaned"),
                name="deposit_counts_once",
            ),
            models.CheckConstraint(
                name="deposit_credited_has_its_transfer",
                condition=Q(status="credited", transfer__isnull=False)
                | Q(status="orphaned")
                | Q(status__in=["pending", "worthless"], transfer=None),
            ),
        ]
        indexes = [
            models.Index(
                fields=["vault", "block_number"],
                condition=Q(status="pending"),
                name="deposit_pending",
            ),
            models.Index(
                fields=["vault", "block_number"],
                condition=~Q(status="orphaned"),
                name="deposit_on_chain",
            ),
            models.Index(fields=["wallet", "-id"], name="deposit_of_wallet"),
            models.Index(fields=["tx_hash"], name="deposit_tx"),
        ]

    def __str__(self) -> str:
        return f"deposit {self.number} of {self.vault_id}"


class Funding(models.Model):
    """Who sent a player's address its first coins."""

    wallet = models.OneToOneField(Wallet, on_delete=models.CASCADE, primary_key=True)
    payer = AddressField(blank=True, db_index=True, help_text="empty if it can't be told")

    def __str__(self) -> str:
        return f"{self.wallet_id} by {self.payer or 'nobody known'}"


class Withdrawal(models.Model):
    """Credits on their way back to the chain, and the voucher that a player redeems for them."""

    class Status(models.TextChoices):
        REQUESTED = "requested", "waiting for an operator"
        APPROVED = "approved", "waiting for the signer"
        SIGNED = "signed", "the voucher can be redeemed"
        REDEEMED = "redeemed", "waiting for confirmations"
        PAID = "paid", "paid"
        CANCELLED = "cancelled", "cancelled by the player"
        REJECTED = "rejected", "rejected by an operator"
        RETURNED = "returned", "expired, credits given back"

    class Hold(models.TextChoices):
        NONE = "", "nothing"
        APPROVAL = "approval", "an operator's approval"
        WALLET_FROZEN = "wallet_frozen", "the wallet is frozen"
        WALLET_NEGATIVE = "wallet_negative", "the wallet is below zero"
        WALLET_LIMIT = "wallet_limit", "the wallet's daily limit is used up"
        VAULT_SHORT = "vault_short", "the vault has too little"
        VAULT_LIMIT = "vault_limit", "the vault's daily limit is used up"
        VAULT_PAUSED = "vault_paused", "the vault is paused"
        CHAIN = "chain", "the chain can't be read"
        SERVICE_PAUSED = "service_paused", "withdrawals are paused"
        OPERATOR = "operator", "an operator has to look into it"

    # What can become of a withdrawal; nothing else can.
    MOVES = {
        Status.REQUESTED: {Status.APPROVED, Status.CANCELLED, Status.REJECTED},
        # Redeemed without a signature that is known: the database was restored from before it.
        Status.APPROVED: {Status.SIGNED, Status.CANCELLED, Status.REJECTED, Status.REDEEMED},
        Status.SIGNED: {Status.REDEEMED, Status.RETURNED},
        # Back again: the redemption fell out of the chain.
        Status.REDEEMED: {Status.PAID, Status.SIGNED, Status.APPROVED},
        Status.PAID: {Status.SIGNED, Status.APPROVED},
        Status.CANCELLED: set(),
        Status.REJECTED: set(),
        Status.RETURNED: set(),
    }
    GIVEN_BACK = (Status.CANCELLED, Status.REJECTED, Status.RETURNED)

    wallet = models.ForeignKey(Wallet, on_delete=models.PROTECT, related_name="withdrawals")
    token = models.ForeignKey(Token, on_delete=models.PROTECT, related_name="withdrawals")
    credits = WholeNumberField()
    amount = WholeNumberField(help_text="in the token's smallest unit")
    voucher = WholeNumberField("voucher's id", unique=True, help_text="random, on the chain")
    status = models.CharField(max_length=10, choices=Status, default=Status.REQUESTED)
    hold = models.CharField(
        "waiting for", max_length=16, choices=Hold, blank=True, help_text="why it is not signed"
    )
    requested_at = models.DateTimeField(auto_now_add=True)
    decided_by = models.ForeignKey(Wallet, on_delete=models.PROTECT, null=True, related_name="+")
    decided_at = models.DateTimeField(null=True)
    tried_at = models.DateTimeField("last looked at by the signer", null=True)
    deadline = models.BigIntegerField(null=True, help_text="Unix time of the chain, inclusive")
    signature = models.CharField(max_length=132, blank=True)
    signer = AddressField(blank=True)
    signed_at = models.DateTimeField(null=True)
    signed_block = models.BigIntegerField("newest block at signing", null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        permissions = [
            ("decide_withdrawal", "Can approve or reject a withdrawal"),
            ("explain_redemption", "Can explain a redemption that should not have been"),
        ]
        constraints = [
            models.CheckConstraint(
                name="withdrawal_moves_something", condition=Q(credits__gt=0, amount__gt=0)
            ),
            models.CheckConstraint(
                name="withdrawal_signed_with_a_deadline",
                condition=Q(signature="", deadline=None, signed_block=None)
                | (~Q(signature="") & Q(deadline__isnull=False, signed_block__isnull=False)),
            ),
            models.CheckConstraint(
                name="withdrawal_signature_fits_status",
                condition=Q(
                    status__in=["requested", "approved", "cancelled", "rejected"], signature=""
                )
                | (Q(status__in=["signed", "returned"]) & ~Q(signature=""))
                | Q(status__in=["redeemed", "paid"]),
            ),
        ]
        indexes = [
            models.Index(fields=["wallet", "-id"], name="withdrawal_of_wallet"),
            models.Index(
                fields=["status", "id"],
                condition=Q(status__in=["requested", "approved", "signed", "redeemed"]),
                name="withdrawal_live",
            ),
        ]

    def __str__(self) -> str:
        return f"withdrawal {self.pk}"

    @property
    def expires_at(self) -> datetime | None:
        """The deadline; None before it is signed, and where no date is so late."""
        if self.deadline is None or self.deadline > LAST_SECOND:
            return None
        return datetime.fromtimestamp(self.deadline, UTC)


class Redemption(models.Model):
    """A `Withdrawn` event of a known vault, as seen in one block.

    One that fell out of the chain stays as it was; if it comes back, that is another row.
    """

    class Status(models.TextChoices):
        PENDING = "pending", "waiting for confirmations"
        CONFIRMED = "confirmed", "confirmed"
        ORPHANED = "orphaned", "fell out of the chain"

    vault = models.ForeignKey(Vault, on_delete=models.PROTECT, related_name="redemptions")
    withdrawal = models.ForeignKey(
        Withdrawal, on_delete=models.PROTECT, null=True, related_name="redemptions"
    )
    voucher = WholeNumberField("voucher's id")
    player = AddressField()
    token = AddressField()
    amount = WholeNumberField(help_text="in the token's smallest unit")
    tx_hash = HashField()
    log_index = models.PositiveIntegerField()
    block_number = models.BigIntegerField()
    block_hash = HashField()
    status = models.CharField(max_length=10, choices=Status, default=Status.PENDING)
    trouble = models.TextField(blank=True, help_text="why it should not have been")
    explanation = models.TextField(blank=True, help_text="an operator's, of the trouble")
    explained_by = models.ForeignKey(Wallet, on_delete=models.PROTECT, null=True, related_name="+")
    transfer = models.OneToOneField(
        Transfer, on_delete=models.PROTECT, null=True, related_name="redemption"
    )
    seen_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["vault", "block_hash", "log_index"],
                condition=~Q(status="orphaned"),
                name="redemption_seen_once",
            ),
            models.UniqueConstraint(
                fields=["vault", "voucher"],
                condition=~Q(status="orphaned"),
                name="redemption_counts_once",
            ),
            models.CheckConstraint(
                name="redemption_confirmed_has_its_transfer",
                condition=Q(status="confirmed", transfer__isnull=False, withdrawal__isnull=False)
                | Q(status="pending", transfer=None)
                | Q(status="orphaned"),
            ),
            models.CheckConstraint(
                name="redemption_belongs_or_is_trouble",
                condition=Q(withdrawal__isnull=False) | ~Q(trouble=""),
            ),
            models.CheckConstraint(
                name="redemption_explained_by_somebody",
                condition=Q(explanation="", explained_by=None)
                | (~Q(explanation="") & Q(explained_by__isnull=False)),
            ),
        ]
        indexes = [
            models.Index(
                fields=["vault", "block_number"],
                condition=~Q(status="orphaned"),
                name="redemption_on_chain",
            ),
            models.Index(
                fields=["vault", "block_number"],
                condition=Q(status="pending"),
                name="redemption_pending",
            ),
        ]

    def __str__(self) -> str:
        return f"redemption of {self.voucher}"
