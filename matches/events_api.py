"""The stream of a match's events."""

from uuid import UUID

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpResponseBase, StreamingHttpResponse
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import status
from rest_framework.exceptions import NotAcceptable, ValidationError
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from matches import live, selectors
from matches.api import INVITATION
from matches.models import Match

LAST_EVENT_ID = OpenApiParameter(
    "Last-Event-ID",
    int,
    OpenApiParameter.HEADER,
    description="The last `id` that you have: the stream goes on after it. Browsers send it "
    "by themselves when they connect again.",
)
AFTER = OpenApiParameter(
    "after", int, description="The same, for the first connection; without it, from the beginning."
)
STREAM = OpenApiResponse(
    str,
    "Messages of server-sent events, their `data` in JSON: `start`, `locked`, `movement`, "
    "`potion`, `resign`, `void`, each with its number in the match as `id`; `clock`, without one, "
    "whenever the running stage or its deadline changes; and `ended`, after which the stream ends.",
)


class EventStreamRenderer(JSONRenderer):
    """Lets readers ask for an event stream; errors, which come before it, are JSON."""

    media_type = "text/event-stream"
    format = "event-stream"


class EventsView(APIView):
    """A match, live."""

    renderer_classes = [EventStreamRenderer]

    @extend_schema(
        tags=["battle"],
        parameters=[LAST_EVENT_ID, AFTER, INVITATION],
        responses={
            (200, EventStreamRenderer.media_type): STREAM,
            204: OpenApiResponse(description="The match has ended and you have all of it."),
        },
    )
    def get(self, request: Request, match_id: UUID) -> HttpResponseBase:
        """Everything that happens in a match that you may see, as it happens."""
        invitation = request.headers.get(INVITATION.name, "")
        match = selectors.match_for(request.user, match_id, invitation)
        after = _after(request)
        ended = match.status not in Match.LIVE
        if after >= match.event_count + ended:
            raise ValidationError({"after": "The match has not come this far."})
        if after == match.event_count:
            # To a browser this says that it need not connect again.
            return Response(status=status.HTTP_204_NO_CONTENT)
        if not isinstance(request._request, ASGIRequest):
            raise NotAcceptable("This server can't stream; one that speaks ASGI is needed.")
        stream = live.Stream(match_id=match.pk, wallet_id=request.user.pk, after=after)
        return StreamingHttpResponse(
            stream,
            content_type=EventStreamRenderer.media_type,
            # Proxies must neither gather nor keep what is sent.
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )


def _after(request: Request) -> int:
    text = request.headers.get(LAST_EVENT_ID.name) or request.query_params.get(AFTER.name)
    if text is None:
        return -1
    # isdecimal alone lets other scripts' digits pass, and a number has no need of more than ten.
    if not (text.isascii() and text.isdecimal() and len(text) <= 10):
        raise ValidationError({"after": "This is not the number of an event."})
    return int(text)
