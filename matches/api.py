"""The API of matches. Views parse, call, answer."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.utils.dateparse import parse_datetime
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.exceptions import ValidationError
from rest_framework.generics import ListAPIView
from rest_framework.pagination import Cursor
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from engine import Choice
from matches import battle, lobby, practice, selectors
from matches.models import Match
from matches.serializers import (
    CardSerializer,
    HouseApeSerializer,
    JoinSerializer,
    LobbySerializer,
    MoveSerializer,
    NewMatchSerializer,
    PracticeSerializer,
    QuickMatchSerializer,
    RevealSerializer,
    TableSerializer,
    TranscriptSerializer,
)
from matches.transcript import transcript
from wallets.errors import Problem
from wallets.idempotency import HEADER, once
from wallets.pagination import NewestFirst

IDEMPOTENCY_KEY = OpenApiParameter(
    HEADER,
    str,
    OpenApiParameter.HEADER,
    description="Any text of yours, up to 255 characters: the same request with the same key is "
    "carried out once, and a repeat gets the first answer.",
)

# A header, not a part of the address: addresses are written to logs and browsers' histories.
INVITATION = OpenApiParameter(
    "Invitation", str, OpenApiParameter.HEADER, description="The match's, if you were invited."
)


class NewestMatches(NewestFirst):
    """Matches have no serial number; their time of making orders them."""

    ordering = "-created_at"

    def decode_cursor(self, request: Request) -> Cursor | None:
        """Refuse a made-up cursor here: the database would choke on it."""
        cursor = super().decode_cursor(request)
        if cursor and cursor.position is not None and not _is_instant(cursor.position):
            raise ValidationError({"cursor": "This is not one of our cursors."})
        return cursor


def _is_instant(text: str) -> bool:
    try:
        instant = parse_datetime(text)
    except ValueError:
        return False
    return instant is not None and instant.tzinfo is not None


class MatchesView(ListAPIView):
    """The lobby, or your own matches; and making one."""

    serializer_class = CardSerializer
    pagination_class = NewestMatches
    queryset = Match.objects.none()

    def get_queryset(self):
        """The lobby unless `?mine=true`."""
        form = LobbySerializer(data=self.request.query_params.dict())
        form.is_valid(raise_exception=True)
        wanted = dict(form.validated_data)
        mine = wanted.pop("mine")
        return selectors.matches_of(self.request.user) if mine else selectors.open_matches(**wanted)

    @extend_schema(tags=["matches"], parameters=[LobbySerializer])
    def get(self, request: Request) -> Response:
        """Open matches that you may join, or your own, newest first."""
        page = self.paginate_queryset(self.get_queryset())
        cards = [selectors.card(match) for match in page]
        return self.get_paginated_response(CardSerializer(cards, many=True).data)

    @extend_schema(
        tags=["matches"],
        request=NewMatchSerializer,
        responses={201: TableSerializer},
        parameters=[IDEMPOTENCY_KEY],
    )
    def post(self, request: Request) -> Response:
        """Make a match and stake on it."""
        form = NewMatchSerializer(data=request.data)
        form.is_valid(raise_exception=True)

        def make() -> tuple[int, dict[str, Any]]:
            match = lobby.create_match(wallet=request.user, **form.validated_data)
            return status.HTTP_201_CREATED, _table(request, match)

        return once(request, make)


class QuickMatchView(APIView):
    """Play whoever wants to play for the same stake."""

    @extend_schema(
        tags=["matches"],
        request=QuickMatchSerializer,
        responses=TableSerializer,
        parameters=[IDEMPOTENCY_KEY],
    )
    def post(self, request: Request) -> Response:
        """Join the match of this stake that has waited longest, or make one and wait."""
        form = QuickMatchSerializer(data=request.data)
        form.is_valid(raise_exception=True)

        def pair() -> tuple[int, dict[str, Any]]:
            match = lobby.quick_match(wallet=request.user, **form.validated_data)
            return status.HTTP_200_OK, _table(request, match)

        return once(request, pair)


class PracticeView(APIView):
    """Matches without a stake, against an ape of the house."""

    @extend_schema(tags=["matches"], responses=HouseApeSerializer(many=True))
    def get(self, request: Request) -> Response:
        """The apes that you may practise against, the weakest first."""
        return Response(HouseApeSerializer(practice.house_apes(), many=True).data)

    @extend_schema(
        tags=["matches"],
        request=PracticeSerializer,
        responses={201: TableSerializer},
        parameters=[IDEMPOTENCY_KEY],
    )
    def post(self, request: Request) -> Response:
        """Start a match against an ape of the house, which has locked in already."""
        form = PracticeSerializer(data=request.data)
        form.is_valid(raise_exception=True)

        def start() -> tuple[int, dict[str, Any]]:
            match = practice.start_practice(wallet=request.user, **form.validated_data)
            return status.HTTP_201_CREATED, _table(request, match)

        return once(request, start)


class MatchView(APIView):
    """One match."""

    @extend_schema(
        tags=["matches"],
        responses=TableSerializer,
        parameters=[INVITATION],
    )
    def get(self, request: Request, match_id: UUID) -> Response:
        """A match, as you may see it now."""
        invitation = request.headers.get(INVITATION.name, "")
        return Response(_table(request, selectors.match_for(request.user, match_id, invitation)))


class JoinView(APIView):
    """Take the other seat."""

    @extend_schema(
        tags=["matches"],
        request=JoinSerializer,
        responses=TableSerializer,
        parameters=[IDEMPOTENCY_KEY],
    )
    def post(self, request: Request, match_id: UUID) -> Response:
        """Join a match, stake on it, and start."""
        form = JoinSerializer(data=request.data)
        form.is_valid(raise_exception=True)

        def join() -> tuple[int, dict[str, Any]]:
            match = lobby.join_match(wallet=request.user, match_id=match_id, **form.validated_data)
            return status.HTTP_200_OK, _table(request, match)

        return once(request, join)


class CancelView(APIView):
    """Take a match back."""

    @extend_schema(tags=["matches"], request=None, responses=TableSerializer)
    def post(self, request: Request, match_id: UUID) -> Response:
        """Cancel your match before anyone has joined; the stake returns."""
        match = lobby.cancel_match(wallet=request.user, match_id=match_id)
        return Response(_table(request, match))


class RematchView(APIView):
    """Once more."""

    @extend_schema(
        tags=["matches"],
        request=None,
        responses=TableSerializer,
        parameters=[IDEMPOTENCY_KEY],
    )
    def post(self, request: Request, match_id: UUID) -> Response:
        """Offer the opponent a rematch on the same terms, or accept the one that is offered.

        The answer is the rematch, `open` while the other has not called too. Until then, cancel
        it like any open match.
        """
        selectors.match_for(request.user, match_id)

        def again() -> tuple[int, dict[str, Any]]:
            match = lobby.rematch(wallet=request.user, match_id=match_id)
            return status.HTTP_200_OK, _table(request, match)

        return once(request, again)


class ResignView(APIView):
    """Give up."""

    @extend_schema(tags=["battle"], request=None, responses=TableSerializer)
    def post(self, request: Request, match_id: UUID) -> Response:
        """Resign: you lose the match at once."""
        return _act(request, match_id, battle.resign)


class MovesView(APIView):
    """Lock in."""

    @extend_schema(tags=["battle"], request=MoveSerializer, responses=TableSerializer)
    def post(self, request: Request, match_id: UUID) -> Response:
        """Lock in a commitment, or a move that the server commits to for you."""
        form = MoveSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        data = form.validated_data
        if "commitment" in data:
            return _act(request, match_id, battle.lock_in, **data)
        choice = Choice(data["move"], data.get("tribute"))
        return _act(request, match_id, battle.play, movement=data["movement"], choice=choice)


class RevealsView(APIView):
    """Reveal."""

    @extend_schema(tags=["battle"], request=RevealSerializer, responses=TableSerializer)
    def post(self, request: Request, match_id: UUID) -> Response:
        """Reveal what you committed to."""
        form = RevealSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        data = form.validated_data
        return _act(
            request,
            match_id,
            battle.reveal,
            movement=data["movement"],
            choice=Choice(data["move"], data["tribute"]),
            salt=data["salt"],
        )


class PotionsView(APIView):
    """Drink."""

    @extend_schema(
        tags=["battle"], request=None, responses=TableSerializer, parameters=[IDEMPOTENCY_KEY]
    )
    def post(self, request: Request, match_id: UUID) -> Response:
        """Drink a healing potion."""
        battle.catch_up_if_due(match_id=match_id)

        def drink() -> tuple[int, dict[str, Any]]:
            match = battle.drink(wallet=request.user, match_id=match_id)
            return status.HTTP_200_OK, _table(request, match)

        return once(request, drink)


class TranscriptView(APIView):
    """Proof that a match was fair."""

    @extend_schema(tags=["matches"], responses=TranscriptSerializer, parameters=[INVITATION])
    def get(self, request: Request, match_id: UUID) -> Response:
        """What `python -m engine verify` needs to check a match that has ended."""
        invitation = request.headers.get(INVITATION.name, "")
        return Response(transcript(selectors.match_for(request.user, match_id, invitation)))


def _act(
    request: Request, match_id: UUID, action: Callable[..., Match], **arguments: Any
) -> Response:
    """Act, after a deadline that has passed, and show the match as it then is."""
    try:
        match = action(wallet=request.user, match_id=match_id, **arguments)
    except Problem:
        # The deadline was applied first, and has been undone with the rest.
        battle.catch_up_if_due(match_id=match_id)
        raise
    return Response(_table(request, match))


def _table(request: Request, match: Match) -> dict[str, Any]:
    return TableSerializer(selectors.table(match, request.user)).data
