"""What the API of players shows."""

from rest_framework import serializers

from matches.models import Side
from matches.players import RESULTS
from matches.serializers import CardSerializer


class RankSerializer(serializers.Serializer):
    """A row of the leaderboard."""

    rank = serializers.IntegerField()
    address = serializers.CharField()
    rating = serializers.IntegerField(help_text="Glicko-2; everybody begins with 1500")
    deviation = serializers.IntegerField(help_text="how far off the rating may be")
    provisional = serializers.BooleanField(help_text="the deviation is still above 110")
    played = serializers.IntegerField(help_text="matches for a stake that were won or drawn")
    won = serializers.IntegerField()
    lost = serializers.IntegerField()
    drawn = serializers.IntegerField()


class PlayerSerializer(RankSerializer):
    """A player's record."""

    rank = None
    rating = serializers.IntegerField(allow_null=True, help_text="null before the first match")
    deviation = serializers.IntegerField(allow_null=True)
    since = serializers.DateTimeField(allow_null=True, help_text="when the wallet first came here")


class PastMatchSerializer(CardSerializer):
    """A match that has ended, from where one of its players sat."""

    side = serializers.ChoiceField(choices=Side.choices, help_text="the player's")
    opponent = serializers.CharField(help_text="the other player's address")
    result = serializers.ChoiceField(choices=RESULTS, help_text="for the player")
    payout = serializers.IntegerField(help_text="credits that the player got of the pot")


class HeadToHeadSerializer(serializers.Serializer):
    """How the matches of two players have ended, for the first of them."""

    address = serializers.CharField()
    against = serializers.CharField()
    won = serializers.IntegerField()
    lost = serializers.IntegerField()
    drawn = serializers.IntegerField()
