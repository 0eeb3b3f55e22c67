"""How the API reads a body; the framework has bounded its size."""

import json
from typing import IO, Any, NoReturn

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser


class JsonParser(JSONParser):
    """JSON as RFC 8259 has it: UTF-8, whatever charset a caller names.

    The framework's own asks Python for the named codec: `zlib` is one, and unpacks a bomb.
    """

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: dict[str, Any] | None = None,
    ) -> Any:
        """Read a value. Raises ParseError."""
        try:
            return json.loads(stream.read().decode(), parse_constant=_refuse)
        except ValueError as error:
            raise ParseError("This is not JSON in UTF-8.") from error


def _refuse(constant: str) -> NoReturn:
    """Python would read NaN and Infinity, which are no JSON."""
    raise ValueError(constant)
