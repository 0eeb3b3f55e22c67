"""The API of players. Views parse, call, answer; all may be read without a login."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from matches import players
from matches.models import Rating, Seat
from matches.players_serializers import (
    HeadToHeadSerializer,
    PastMatchSerializer,
    PlayerSerializer,
    RankSerializer,
)
from matches.ranking import ByRank
from wallets.authentication import Anyone

ADDRESS = OpenApiParameter(
    "address", str, OpenApiParameter.PATH, description="a wallet's, in any casing"
)
OTHER = OpenApiParameter("other", str, OpenApiParameter.PATH, description="another wallet's")


class LeaderboardView(ListAPIView):
    """Who plays best."""

    permission_classes = [Anyone]
    serializer_class = RankSerializer
    pagination_class = ByRank
    queryset = Rating.objects.none()

    @extend_schema(tags=["players"])
    def get(self, request: Request) -> Response:
        """All players who have been rated, best first. `previous` is always null."""
        page = self.paginate_queryset(players.ranked())
        rows = [players.standing(rating) | {"rank": rating.rank} for rating in page]
        return self.get_paginated_response(RankSerializer(rows, many=True).data)


class PlayerView(APIView):
    """A player."""

    permission_classes = [Anyone]

    @extend_schema(tags=["players"], responses=PlayerSerializer, parameters=[ADDRESS])
    def get(self, request: Request, address: str) -> Response:
        """A player's rating and record; an empty one for an address that has not been rated."""
        return Response(PlayerSerializer(players.profile(address)).data)


class PlayerMatchesView(ListAPIView):
    """What a player has played."""

    permission_classes = [Anyone]
    serializer_class = PastMatchSerializer
    queryset = Seat.objects.none()

    def get_queryset(self) -> QuerySet[Seat]:
        """The player's seats at matches that have ended."""
        seats = players.history(self.kwargs["address"], self.request.user)
        return seats.select_related("match").prefetch_related("match__seats__wallet")

    @extend_schema(tags=["players"], parameters=[ADDRESS])
    def get(self, request: Request, address: str) -> Response:
        """A player's matches that were played and have ended, the last one joined first.

        Those by invitation are listed for their own two players only.
        """
        rows = [players.past_match(seat) for seat in self.paginate_queryset(self.get_queryset())]
        return self.get_paginated_response(PastMatchSerializer(rows, many=True).data)


class HeadToHeadView(APIView):
    """Two players."""

    permission_classes = [Anyone]

    @extend_schema(tags=["players"], responses=HeadToHeadSerializer, parameters=[ADDRESS, OTHER])
    def get(self, request: Request, address: str, other: str) -> Response:
        """How the matches of two players have ended, of those in the player's list."""
        record: dict[str, Any] = players.head_to_head(address, other, request.user)
        return Response(HeadToHeadSerializer(record).data)
