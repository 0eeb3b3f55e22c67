"""What a page may load and run: nothing that is not named here."""

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


class PolicyByPath(CSPMiddleware):
    """django-csp's middleware, with looser policies for the pages that others have written."""

    def get_policy_parts(
        self, request: HttpRequest, response: HttpResponseBase, report_only: bool = False
    ) -> PolicyParts:
        """The policy of the path's own, or the common one."""
        parts = super().get_policy_parts(request, response, report_only)
        for path, looser in OF_OTHERS.items():
            if request.path.startswith(path):
                parts.replace = looser
        return parts
