"""OpenAPI: every call's errors are problem+json, said once for all of them."""

from typing import Any

from drf_spectacular.authentication import SessionScheme
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema as SpectacularSchema

from bas_site.problems import CONTENT_TYPE
from wallets.authentication import Anyone, BearerAuthentication, SessionAuthentication

PROBLEM = {
    "type": "object",
    "description": "RFC 9457 problem details",
    "required": ["type", "title", "status", "code", "detail"],
    "properties": {
        "type": {"type": "string", "format": "uri-reference"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string", "description": "stable, for programs"},
        "detail": {"type": "string", "description": "for people"},
        "errors": {
            "type": "array",
            "description": "with code `invalid`: what is wrong with each field",
            "items": {
                "type": "object",
                "required": ["pointer", "code", "detail"],
                "properties": {
                    "pointer": {"type": "string", "description": "RFC 6901"},
                    "code": {"type": "string"},
                    "detail": {"type": "string"},
                },
            },
        },
    },
    "additionalProperties": True,
}


class AutoSchema(SpectacularSchema):
    """Adds the problem response, and that a login is not needed where it is not."""

    def get_auth(self) -> list[dict[str, Any]]:
        """The ways to log in; an empty one for none."""
        ways = super().get_auth()
        return [*ways, {}] if Anyone in self.view.permission_classes else ways

    def _get_response_bodies(self, direction: str = "response") -> dict[str, Any]:
        responses = super()._get_response_bodies(direction)
        return responses | {
            "default": {
                "description": "What went wrong",
                "content": {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
            }
        }


def add_problem(result: dict[str, Any], **_kwargs: Any) -> dict[str, Any]:
    """Put the problem's schema among the components (a spectacular post-processing hook)."""
    result["components"]["schemas"]["Problem"] = PROBLEM
    return result


class BearerScheme(OpenApiAuthenticationExtension):
    """Names the bearer token in the OpenAPI document."""

    target_class = BearerAuthentication
    name = "bearerAuth"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        """An HTTP bearer scheme."""
        return {"type": "http", "scheme": "bearer"}


class SessionCookie(SessionScheme):
    """Names the session's cookie in it."""

    target_class = SessionAuthentication
