"""What operators do to a row by hand: on a page that asks for a reason, and into the record."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from unfold.dataclasses import UnfoldAction
from unfold.decorators import action
from unfold.widgets import UnfoldAdminTextareaWidget

from wallets.admin_base import ConsoleAdmin, page_of
from wallets.db import in_transaction
from wallets.errors import Problem

MAX_REASON = 300


class ReasonForm(forms.Form):
    """Why it is done."""

    reason = forms.CharField(
        max_length=MAX_REASON,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3, "autofocus": True}),
        help_text="kept in the record of changes, with your name",
    )


def with_reason(
    label: str, *, permission: str, icon: str, question: str, possible: Callable[[Any], bool]
) -> Callable[[Callable[..., None]], Any]:
    """Make `do(page, operator=…, row=…, reason=…)` a button on a row's page.

    It is there for operators who have `permission` (a name as in `has_…_permission`), and while
    the row is one for which it is `possible`. It leads to a page that puts the `question` and asks
    for the reason. What `do` refuses by raising a Problem is told to the operator; what it did is
    in the record of changes, with the reason.
    """

    def decorate(do: Callable[..., None]) -> Any:
        @in_transaction
        def done(page: ConsoleAdmin, request: HttpRequest, row: Model, reason: str) -> None:
            do(page, operator=request.user, row=row, reason=reason)
            page.log_change(request, row, f"{label}: {reason}")

        @action(description=label, url_path=do.__name__, icon=icon, permissions=[permission])
        @wraps(do)
        def view(page: ConsoleAdmin, request: HttpRequest, object_id: str) -> HttpResponse:
            row = page.get_object(request, object_id)
            if row is None:
                raise Http404
            form = ReasonForm(request.POST or None)
            if not form.is_valid():
                title = f"{label}: {row}"
                return _ask(page, request, row=row, form=form, title=title, question=question)
            try:
                done(page, request, row, form.cleaned_data["reason"])
            except Problem as problem:
                page.message_user(request, problem.detail, messages.ERROR)
            else:
                page.message_user(request, f"{label}: done.", messages.SUCCESS)
            return redirect(page_of(row))

        view.possible = possible
        return view

    return decorate


def _ask(
    page: ConsoleAdmin, request: HttpRequest, *, row: Model, **context: Any
) -> TemplateResponse:
    shown = {
        **page.admin_site.each_context(request),
        "opts": page.model._meta,
        "original": row,
        "back": page_of(row),
        **context,
    }
    return TemplateResponse(request, "admin/ask_for_reason.html", shown)


class HasActions(ConsoleAdmin):
    """A page with buttons made by `with_reason`; `actions_detail` names them."""

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[UnfoldAction]:
        """Those that this operator may use, and that are possible now."""
        row = self.get_object(request, object_id)
        allowed = super().get_actions_detail(request, object_id)
        return [each for each in allowed if row is not None and each.method.possible(row)]
