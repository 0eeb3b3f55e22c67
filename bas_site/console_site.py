"""The console's doors: a password, a second factor where the settings ask for it, and sessions.

Who has given a password and no second factor is let into no page but the one that asks for it.
"""

from typing import Any
from uuid import UUID

import qrcode
from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_protect
from django.views.decorators.http import require_POST
from qrcode.image.svg import SvgPathImage
from unfold.sites import UnfoldAdminSite
from unfold.widgets import UnfoldAdminTextInputWidget

from contracts.funding import payers_of
from matches.fair_play import WINDOW, suspicious_pairs
from wallets import second_factor
from wallets.change_record import record
from wallets.login import claim_session, note_use
from wallets.models import Session, Wallet

SHOWN_PAIRS = 100
CODE_ATTRS = {"autofocus": True, "autocomplete": "one-time-code", "inputmode": "text"}


class CodeForm(forms.Form):
    """Six digits of the app, or a recovery code."""

    code = forms.CharField(max_length=16, widget=UnfoldAdminTextInputWidget(attrs=CODE_ATTRS))

    def clean_code(self) -> str:
        """People put spaces into it, as their apps do."""
        return self.cleaned_data["code"].replace(" ", "").lower()


class ConsoleSite(UnfoldAdminSite):
    """The admin site, with a second factor, the operators' sessions, and fair play."""

    def has_permission(self, request: HttpRequest) -> bool:
        """Whether the console's pages are open to the request."""
        if not _has_password(request):
            return False
        if settings.OPERATOR_TWO_FACTOR and not request.user.is_verified():
            return False
        if row := request.session.row:
            note_use(row)
        return True

    def login(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Ask for the password, and then for the second factor."""
        if request.method == "GET" and _has_password(request) and not self.has_permission(request):
            after = urlencode({"next": request.GET.get("next", "")})
            return redirect(f"{reverse('admin:second_factor')}?{after}")
        response = super().login(request, extra_context)
        if request.method == "POST" and response.status_code == 302:
            claim_session(request=request, wallet=request.user)
        return response

    def extra_urls(self) -> list[URLPattern]:
        """The pages of this module."""
        return [
            path("second-factor/", self.second_factor, name="second_factor"),
            path("fair-play/", self.admin_view(self.fair_play), name="fair_play"),
            path("sessions/", self.admin_view(self.sessions), name="sessions"),
            path(
                "sessions/<uuid:login_id>/end/",
                self.admin_view(require_POST(self.end_session)),
                name="end_session",
            ),
        ]

    # --- The second factor ----------------------------------------------------------------------
    @method_decorator([never_cache, csrf_protect])
    def second_factor(self, request: HttpRequest) -> HttpResponse:
        """Ask for a code; at first, set the app up that makes them."""
        if not _has_password(request):
            return redirect("admin:login")
        if request.user.is_verified():
            return self._recovery_codes(request)
        form = CodeForm(request.POST or None)
        if second_factor.is_enrolled(request.user):
            return self._ask_for_code(request, form)
        return self._enrol(request, form)

    def _ask_for_code(self, request: HttpRequest, form: CodeForm) -> HttpResponse:
        if form.is_valid():
            code = form.cleaned_data["code"]
            if second_factor.verify(request=request, operator=request.user, code=code):
                return redirect(_next(request))
            form.add_error("code", WRONG)
        return self._page(request, "second_factor", title="Your code", form=form)

    def _enrol(self, request: HttpRequest, form: CodeForm) -> HttpResponse:
        operator = request.user
        if form.is_valid():
            code = form.cleaned_data["code"]
            codes = second_factor.enrol(request=request, operator=operator, code=code)
            if codes:
                record(operator=operator, changed=operator, words="Second factor set up.")
                return self._show_codes(request, codes)
            form.add_error("code", WRONG)
        device = second_factor.device_to_enrol(operator)
        shown = {"qr": _svg(device.config_url), "secret": _in_fours(device)}
        return self._page(request, "second_factor", title="Set up your app", form=form, **shown)

    def _recovery_codes(self, request: HttpRequest) -> HttpResponse:
        if request.method == "POST":
            codes = second_factor.renew_recovery_codes(operator=request.user)
            record(operator=request.user, changed=request.user, words="Recovery codes renewed.")
            return self._show_codes(request, codes)
        left = second_factor.recovery_codes_left(request.user)
        return self._page(request, "recovery_codes", title="Recovery codes", left=left)

    def _show_codes(self, request: HttpRequest, codes: list[str]) -> HttpResponse:
        return self._page(
            request, "recovery_codes", title="Recovery codes", codes=codes, next=_next(request)
        )

    # --- Sessions -------------------------------------------------------------------------------
    def sessions(self, request: HttpRequest) -> HttpResponse:
        """The sessions of operators that have not expired: one's own, or all to a superuser."""
        row = request.session.row
        rows = _sessions_for(request.user).filter(expire_date__gt=timezone.now())
        rows = rows.select_related("wallet").order_by("-last_used_at")[:200]
        current = row and row.login_id
        return self._page(request, "sessions", title="Sessions", rows=rows, current=current)

    def end_session(self, request: HttpRequest, login_id: UUID) -> HttpResponse:
        """Log somebody out, perhaps oneself."""
        row = _sessions_for(request.user).select_related("wallet").filter(login_id=login_id).first()
        if row is None:
            raise Http404
        row.delete()
        record(operator=request.user, changed=row.wallet, words="Session ended.")
        messages.success(request, f"A session of {row.wallet} has ended.")
        return redirect("admin:sessions")

    # --- Fair play ------------------------------------------------------------------------------
    def fair_play(self, request: HttpRequest) -> HttpResponse:
        """Pairs of players that somebody should look at, with the evidence."""
        if not request.user.has_perms(("matches.view_match", "wallets.view_wallet")):
            raise PermissionDenied
        pairs = suspicious_pairs(payers_of)
        shown = {"pairs": pairs[:SHOWN_PAIRS], "found": len(pairs), "days": WINDOW.days}
        return self._page(request, "fair_play", title="Fair play", **shown)

    def _page(self, request: HttpRequest, name: str, **context: Any) -> TemplateResponse:
        shown = {**self.each_context(request), **context}
        return TemplateResponse(request, f"admin/{name}.html", shown)


WRONG = "This code is wrong, or came too soon after a wrong one. Wait a moment, and try the next."


def _has_password(request: HttpRequest) -> bool:
    """Whether an operator has logged in, with or without the second factor."""
    return request.user.is_active and request.user.is_staff


def _sessions_for(operator: Wallet) -> Any:
    """The sessions that an operator may see and end."""
    of_operators = Session.objects.filter(wallet__is_staff=True)
    return of_operators if operator.is_superuser else of_operators.filter(wallet=operator)


def _next(request: HttpRequest) -> str:
    """Where the operator wanted to go: a page of ours, or the first one."""
    wanted = request.GET.get("next", "")
    ours = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return wanted if ours else reverse("admin:index")


def _svg(text: str) -> SafeString:
    """A QR code, drawn in the page itself: it holds a secret, and needs no other request."""
    image = qrcode.make(text, image_factory=SvgPathImage, box_size=8, border=2)
    return mark_safe(image.to_string(encoding="unicode"))  # noqa: S308 - squares alone


def _in_fours(device: Any) -> str:
    """The secret as one types it into an app."""
    secret = device.config_url.partition("secret=")[2].partition("&")[0]
    return " ".join(secret[at : at + 4] for at in range(0, len(secret), 4))
