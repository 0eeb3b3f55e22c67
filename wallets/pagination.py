"""Lists: newest first, by cursor, so that new rows never shift a page."""

from typing import Any

from rest_framework.pagination import CursorPagination


class NewestFirst(CursorPagination):
    """Pages of 50 (at most 200) by descending id; `next` and `previous` are whole links."""

    ordering = "-id"
    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 200

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Describe the page without an example of another host's links."""
        link = {"type": "string", "nullable": True, "format": "uri"}
        return {
            "type": "object",
            "required": ["next", "previous", "results"],
            "properties": {"next": link, "previous": link, "results": schema},
        }
