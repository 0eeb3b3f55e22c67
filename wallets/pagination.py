"""Lists: newest first, by cursor, so that new rows never shift a page."""

from typing import Any

from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.request import Request


class NewestFirst(CursorPagination):
    """Pages of 50 (at most 200) by descending id; `next` and `previous` are whole links."""

    ordering = "-id"
    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 200

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> Any:
        """Refuse a cursor that was made up: its position is no value of the ordering's column."""
        try:
            return super().paginate_queryset(queryset, request, view)
        except ValueError as error:
            raise not_our_cursor() from error

    def decode_cursor(self, request: Request) -> Cursor | None:
        """Refuse what is no cursor as a bad parameter; the framework answers 404."""
        try:
            return super().decode_cursor(request)
        except NotFound as error:
            raise not_our_cursor() from error

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Describe the page without an example of another host's links."""
        link = {"type": "string", "nullable": True, "format": "uri"}
        return {
            "type": "object",
            "required": ["next", "previous", "results"],
            "properties": {"next": link, "previous": link, "results": schema},
        }


def not_our_cursor() -> ValidationError:
    """The error of a cursor that no page of ours gave."""
    return ValidationError({"cursor": "This is not one of our cursors."})
