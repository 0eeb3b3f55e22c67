"""What browsers are told: what a page may load and run, and what no page here needs."""

from typing import Any

from csp.constants import NONE, SELF, UNSAFE_EVAL, UNSAFE_INLINE
from csp.middleware import CSPMiddleware, PolicyParts
from django.http import HttpRequest, HttpResponseBase

# Everything that these pages need is on the site's own origin.
OWN_ORIGIN = {
    "default-src": [NONE],
    "script-src": [SELF],
    "style-src": [SELF],
    "img-src": [SELF, "data:"],
    "font-src": [SELF],
    "connect-src": [SELF],
    "form-action": [SELF],
    "base-uri": [NONE],
    "frame-ancestors": [NONE],
}
# The console (Unfold) has Alpine's expressions in its pages; Swagger UI sets styles.
OF_OTHERS: dict[str, dict[str, list[Any]]] = {
    "/admin/": {
        "script-src": [SELF, UNSAFE_INLINE, UNSAFE_EVAL],
        "style-src": [SELF, UNSAFE_INLINE],
        "img-src": [SELF, "data:", "blob:"],
    },
    "/api/docs": {"style-src": [SELF, UNSAFE_INLINE]},
}
# Nothing here uses any of these, so nothing that gets in can.
OFF = (
    "accelerometer",
    "browsing-topics",
    "camera",
    "display-capture",
    "geolocation",
    "gyroscope",
    "hid",
    "magnetometer",
    "microphone",
    "midi",
    "payment",
    "serial",
    "usb",
)
FIXED = {
    "Permissions-Policy": ", ".join(f"{feature}=()" for feature in OFF),
    "Cross-Origin-Resource-Policy": "same-origin",
}


class BrowserHeaders(CSPMiddleware):
    """django-csp's middleware, with looser policies for the pages that others have written.

    It also sets the headers that are the same on every answer.
    """

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """Set the headers."""
        for name, value in FIXED.items():
            response.headers[name] = value
        return super().process_response(request, response)

    def get_policy_parts(
        self, request: HttpRequest, response: HttpResponseBase, report_only: bool = False
    ) -> PolicyParts:
        """The policy of the path's own, or the common one."""
        parts = super().get_policy_parts(request, response, report_only)
        for path, looser in OF_OTHERS.items():
            if request.path.startswith(path):
                parts.replace = looser
        return parts
