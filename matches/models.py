"""Matches, who sits at them, and everything that happened in them."""

import hmac
import uuid
from datetime import timedelta

from django.db import models
from django.db.models import Q

from wallets.fields import WholeNumberField
from wallets.models import Wallet


class Side(models.TextChoices):
    """Which of the two apes."""

    A = "a", "a"
    B = "b", "b"

    @property
    def other(self) -> "Side":
        """The ape across the table."""
        return Side.B if self == Side.A else Side.A


class Match(models.Model):
    """A match: its terms, fixed when it is made; its state, as the engine left it; its clock."""

    class Status(models.TextChoices):
        OPEN = "open", "waiting for an opponent"
        RUNNING = "running", "running"
        WON = "won", "won"
        DRAW = "draw", "draw"
        ABANDONED = "abandoned", "abandoned"
        CANCELLED = "cancelled", "cancelled"

    LIVE = (Status.OPEN, Status.RUNNING)

    class Visibility(models.TextChoices):
        OPEN = "open", "anyone may join and watch"
        INVITATION = "invitation", "only with its invitation"

    class Stage(models.TextChoices):
        LOCK = "lock", "choices are locked in"
        REVEAL = "reveal", "choices are revealed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    status = models.CharField(max_length=10, choices=Status, default=Status.OPEN)
    visibility = models.CharField(max_length=10, choices=Visibility)
    invitation = models.CharField(max_length=32, help_text="proves that one was invited")
    ruleset = models.CharField(max_length=32)
    rulings = models.JSONField(help_text="each field of the ruleset, as it was at the start")
    stake = WholeNumberField(help_text="credits of each ape")
    fee_bps = models.PositiveIntegerField("house fee", help_text="basis points of the pot")
    lock_seconds = models.PositiveIntegerField()
    reveal_seconds = models.PositiveIntegerField()
    # rules.md, section 6
    secret_hash = models.CharField(max_length=64, help_text="SHA-256 of the server's secret")
    sealed_secret = models.BinaryField(editable=False)
    chain_hash = models.CharField(max_length=64, blank=True)
    event_count = models.PositiveIntegerField(default=0)

    state = models.JSONField(null=True, help_text="the engine's state; none before the start")
    stage = models.CharField(max_length=6, choices=Stage, blank=True)
    deadline = models.DateTimeField(null=True, help_text="of the running stage")
    winner = models.CharField(max_length=1, choices=Side, blank=True)
    ended_by = models.CharField(max_length=16, blank=True, help_text="what ended it")
    house_ape = models.CharField(
        max_length=16, blank=True, help_text="plays side b, in practice: no stake, no fee"
    )
    void_reason = models.CharField(max_length=300, blank=True, help_text="shown to both players")
    rematch_of = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        null=True,
        related_name="rematches",
        help_text="the match whose two players alone may play this one",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "matches"
        permissions = [("void_match", "Can void a running match: both stakes go back")]
        constraints = [
            models.CheckConstraint(
                name="match_winner_only_when_won",
                condition=Q(status="won") & ~Q(winner="") | ~Q(status="won") & Q(winner=""),
            ),
            models.CheckConstraint(
                name="match_clock_only_when_running",
                condition=Q(status="running", deadline__isnull=False, state__isnull=False)
                | ~Q(status="running") & Q(deadline=None),
            ),
            models.UniqueConstraint(
                name="match_one_rematch", fields=["rematch_of"], condition=~Q(status="cancelled")
            ),
            models.CheckConstraint(
                name="match_stakeless_only_in_practice",
                condition=Q(house_ape="", stake__gt=0) | ~Q(house_ape="") & Q(stake=0, fee_bps=0),
            ),
        ]
        indexes = [
            models.Index(fields=["deadline"], condition=Q(status="running"), name="match_due"),
            models.Index(
                fields=["-created_at"],
                condition=Q(status="open", visibility="open"),
                name="match_lobby",
            ),
            models.Index(fields=["-created_at"], name="match_newest"),
            models.Index(
                fields=["created_at"], condition=Q(status="open"), name="match_waiting_longest"
            ),
            models.Index(
                fields=["stake", "created_at"],
                condition=Q(status="open", visibility="open"),
                name="match_quick",
            ),
        ]

    def __str__(self) -> str:
        return str(self.pk)

    @property
    def stage_time(self) -> timedelta:
        """How long the running stage lasts."""
        locking = self.stage == self.Stage.LOCK
        return timedelta(seconds=self.lock_seconds if locking else self.reveal_seconds)

    def admits(self, invitation: str) -> bool:
        """Whether somebody who brings this invitation may join and watch."""
        return self.visibility == self.Visibility.OPEN or hmac.compare_digest(
            self.invitation.encode(), invitation.encode(errors="replace")
        )

    def side_of(self, wallet: Wallet) -> Side | None:
        """The side that a wallet plays; None for a stranger."""
        seats = (seat for seat in self.seats.all() if seat.wallet_id == wallet.pk)
        return next((Side(seat.side) for seat in seats), None)


class Seat(models.Model):
    """A player at a match."""

    match = models.ForeignKey(Match, on_delete=models.PROTECT, related_name="seats")
    side = models.CharField(max_length=1, choices=Side)
    # `seat_newest` is its index.
    wallet = models.ForeignKey(
        Wallet, on_delete=models.PROTECT, related_name="seats", db_index=False
    )
    staked = WholeNumberField(help_text="credits of this player in the match's escrow now")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["match", "side"], name="seat_taken_once"),
            models.UniqueConstraint(fields=["match", "wallet"], name="seat_not_opposite_itself"),
        ]
        indexes = [
            models.Index(fields=["wallet"], condition=Q(staked__gt=0), name="seat_in_play"),
            models.Index(fields=["wallet", "-id"], name="seat_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.side} of {self.match_id}"


def seats_with_wallets() -> models.Prefetch:
    """Reads matches' seats with their wallets, in one query."""
    return models.Prefetch("seats", Seat.objects.select_related("wallet"))


class LockIn(models.Model):
    """What an ape has locked in for a movement, and its reveal.

    A choice that the server keeps until both are locked in (the one-step way) lies here encrypted.
    """

    match = models.ForeignKey(Match, on_delete=models.PROTECT, related_name="lock_ins")
    movement = models.PositiveIntegerField()
    side = models.CharField(max_length=1, choices=Side)
    commitment = models.CharField(max_length=64)
    sealed_choice = models.BinaryField(null=True, editable=False)
    revealed = models.BooleanField(default=False)
    replaced = models.PositiveSmallIntegerField("times replaced", default=0)
    locked_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["match", "movement", "side"], name="lock_in_once_a_movement"
            )
        ]

    def __str__(self) -> str:
        return f"{self.side}, movement {self.movement} of {self.match_id}"


class Event(models.Model):
    """Something that happened in a match. Each is chained to the one before (rules.md, 6)."""

    match = models.ForeignKey(Match, on_delete=models.PROTECT, related_name="events")
    n = models.PositiveIntegerField("number in the match")
    body = models.JSONField()
    chain_hash = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["match", "n"], name="event_numbered_once")]

    def __str__(self) -> str:
        return f"{self.n} of {self.match_id}"


class RatedMatch(models.Model):
    """A match that counts for the ratings; it has its number once it has been rated."""

    match = models.OneToOneField(
        Match, on_delete=models.PROTECT, primary_key=True, related_name="rated"
    )
    n = models.BigIntegerField("number in the order of rating", null=True, unique=True)

    class Meta:
        verbose_name_plural = "rated matches"
        indexes = [models.Index(fields=["match"], condition=Q(n=None), name="rated_match_waiting")]

    def __str__(self) -> str:
        return f"{self.n or 'to be rated'}: {self.match_id}"


class Rating(models.Model):
    """How well a player plays, by the matches rated so far (Glicko-2)."""

    # A larger deviation says that the rating may still be far off.
    PROVISIONAL_DEVIATION = 110

    wallet = models.OneToOneField(
        Wallet, on_delete=models.PROTECT, primary_key=True, related_name="rating"
    )
    rating = models.FloatField(default=1500)
    deviation = models.FloatField(default=350, help_text="in points of the rating")
    volatility = models.FloatField(default=0.06)
    won = models.PositiveIntegerField(default=0)
    lost = models.PositiveIntegerField(default=0)
    drawn = models.PositiveIntegerField(default=0)

    class Meta:
        indexes = [models.Index(fields=["-rating", "-wallet"], name="rating_best_first")]

    def __str__(self) -> str:
        return f"{self.rating:.0f} ± {self.deviation:.0f}"

    @property
    def played(self) -> int:
        """The matches that the rating rests on."""
        return self.won + self.lost + self.drawn

    @property
    def provisional(self) -> bool:
        """Whether too little is known of the player yet."""
        return self.deviation > self.PROVISIONAL_DEVIATION


class Heartbeat(models.Model):
    """When the sweep last ran. There is one row."""

    ONLY = 1

    id = models.PositiveSmallIntegerField(primary_key=True, default=ONLY)
    beat_at = models.DateTimeField()

    class Meta:
        constraints = [models.CheckConstraint(name="heartbeat_only_one", condition=Q(id=1))]

    def __str__(self) -> str:
        return f"beat at {self.beat_at}"


class Outage(models.Model):
    """A time in which the sweep did not run, so that nobody's time may count."""

    began_at = models.DateTimeField()
    ended_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.began_at} to {self.ended_at}"
