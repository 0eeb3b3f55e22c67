"""What the matches' API reads and writes."""

from rest_framework import serializers

from engine import MOVES, RULESETS, TRIBUTES
from engine.apes import APES
from matches.models import Match, Side

HEX_32_BYTES = r"^[0-9a-f]{64}$"


class NewMatchSerializer(serializers.Serializer):
    """The terms of a new match."""

    stake = serializers.IntegerField(min_value=1, help_text="credits of each player")
    visibility = serializers.ChoiceField(
        choices=Match.Visibility.choices, default=Match.Visibility.OPEN
    )
    ruleset = serializers.ChoiceField(choices=list(RULESETS), default="god-v1")


class QuickMatchSerializer(serializers.Serializer):
    """What to play for."""

    stake = serializers.IntegerField(min_value=1, help_text="credits of each player")


class HouseApeSerializer(serializers.Serializer):
    """An ape of the house, to practise against."""

    name = serializers.CharField()
    description = serializers.CharField(help_text="how it plays, in a sentence")
    address = serializers.CharField(help_text="whom its matches show as player b")


class PracticeSerializer(serializers.Serializer):
    """Whom to practise against."""

    ape = serializers.ChoiceField(choices=list(APES))


class LobbySerializer(serializers.Serializer):
    """What a player wants to see listed."""

    mine = serializers.BooleanField(default=False, help_text="your own matches instead")
    stake_min = serializers.IntegerField(
        min_value=0, max_value=10**18, allow_null=True, default=None, help_text="of open matches"
    )
    stake_max = serializers.IntegerField(
        min_value=0, max_value=10**18, allow_null=True, default=None, help_text="of open matches"
    )


class JoinSerializer(serializers.Serializer):
    """How one was invited."""

    invitation = serializers.CharField(required=False, default="", max_length=32, allow_blank=True)


class MovementSerializer(serializers.Serializer):
    """A message for one movement."""

    movement = serializers.IntegerField(
        min_value=1, help_text="the movement that you believe is running"
    )


class ChoiceSerializer(serializers.Serializer):
    """What an ape plays."""

    move = serializers.ChoiceField(choices=list(MOVES))
    tribute = serializers.ChoiceField(choices=list(TRIBUTES), allow_null=True, default=None)


class MoveSerializer(MovementSerializer):
    """Either a commitment, or a move (and tribute) that the server commits to for you."""

    commitment = serializers.RegexField(
        HEX_32_BYTES,
        required=False,
        help_text="SHA-256 of bas:{match}:{movement}:{ape}:{move}:{tribute or none}:{salt}",
    )
    move = serializers.ChoiceField(choices=list(MOVES), required=False)
    tribute = serializers.ChoiceField(choices=list(TRIBUTES), allow_null=True, required=False)

    def validate(self, data: dict) -> dict:
        """One of the two ways, not both."""
        if ("commitment" in data) == ("move" in data):
            raise serializers.ValidationError("Send either a commitment or a move.")
        if "commitment" in data and "tribute" in data:
            raise serializers.ValidationError("A tribute goes with a move.")
        return data


class RevealSerializer(MovementSerializer, ChoiceSerializer):
    """What was committed to."""

    salt = serializers.RegexField(HEX_32_BYTES, help_text="32 random bytes in lower-case hex")


class CardSerializer(serializers.Serializer):
    """A match in a list."""

    id = serializers.UUIDField()
    status = serializers.ChoiceField(choices=Match.Status.choices)
    visibility = serializers.ChoiceField(choices=Match.Visibility.choices)
    stake = serializers.IntegerField()
    fee_bps = serializers.IntegerField(help_text="the house's part of the pot, in basis points")
    ruleset = serializers.CharField()
    players = serializers.DictField(
        child=serializers.CharField(), help_text="addresses, by side: a and b"
    )
    house_ape = serializers.CharField(
        allow_null=True, help_text="who plays b for the house, in practice"
    )
    winner = serializers.ChoiceField(choices=Side.choices, allow_null=True)
    ended_by = serializers.CharField(
        allow_null=True,
        help_text="rounds, missed, resigned, movements, cancelled, expired or voided",
    )
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)


class ApeSerializer(serializers.Serializer):
    """An ape, as both players see it."""

    health = serializers.IntegerField()
    alphas = serializers.IntegerField()
    wilds = serializers.IntegerField()
    potions = serializers.IntegerField()
    streak = serializers.IntegerField()
    rounds = serializers.IntegerField()
    misses = serializers.IntegerField()
    locked_in = serializers.BooleanField()
    revealed = serializers.BooleanField()


class ApesSerializer(serializers.Serializer):
    """Both apes."""

    a = ApeSerializer()
    b = ApeSerializer()


class PastMovementSerializer(serializers.Serializer):
    """A movement that is over; null for an ape that missed it."""

    movement = serializers.IntegerField()
    a = ChoiceSerializer(allow_null=True)
    b = ChoiceSerializer(allow_null=True)


class PlaySerializer(serializers.Serializer):
    """Where a match stands."""

    round = serializers.IntegerField(help_text="0 in the opening")
    phase = serializers.ChoiceField(choices=["opening", "sun", "water", "moon", "earth"])
    movement = serializers.IntegerField(help_text="the running movement, counted in the match")
    in_phase = serializers.IntegerField()
    cycle = serializers.IntegerField()
    sudden_death = serializers.BooleanField()
    stage = serializers.ChoiceField(choices=Match.Stage.choices, allow_null=True)
    deadline = serializers.DateTimeField(allow_null=True)
    apes = ApesSerializer()
    last_movement = PastMovementSerializer(allow_null=True)
    legal_choices = ChoiceSerializer(many=True, help_text="yours, if you play in this match")


class RematchSerializer(serializers.Serializer):
    """A rematch that is offered, or was accepted."""

    match = serializers.UUIDField()
    by = serializers.ChoiceField(choices=Side.choices, help_text="who offered it, by side here")
    status = serializers.ChoiceField(choices=Match.Status.choices, help_text="of the rematch")


class TableSerializer(CardSerializer):
    """A whole match, as you may see it."""

    you = serializers.ChoiceField(choices=Side.choices, allow_null=True)
    rulings = serializers.DictField(help_text="the named rulings of the match's ruleset")
    invitation = serializers.CharField(
        allow_null=True, help_text="shown to the match's maker, to pass on"
    )
    secret_hash = serializers.CharField(help_text="SHA-256 of the server's secret")
    server_secret = serializers.CharField(allow_null=True, help_text="once the match has ended")
    void_reason = serializers.CharField(
        allow_null=True, help_text="why an operator has stopped the match"
    )
    rematch = RematchSerializer(
        allow_null=True, help_text="shown to the two players once the match has ended"
    )
    play = PlaySerializer(allow_null=True, help_text="null before the start")


class TranscriptSerializer(serializers.Serializer):
    """All that anyone needs to verify a match; docs/fairness.md explains each part."""

    format = serializers.CharField()
    header = serializers.DictField(help_text="the terms, and who played")
    server_secret = serializers.CharField(help_text="its SHA-256 is the header's secret_hash")
    events = serializers.ListField(
        child=serializers.DictField(), help_text="each with its hash in the chain"
    )
    chain_hash = serializers.CharField(help_text="the last event's")
    final = serializers.DictField(help_text="the state in which the match ended")
    result = serializers.DictField(help_text="how it ended, and who got what")
