"""What operators do by hand: on a page that asks for a reason, and into the record."""

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

from wallets.admin_base import ConsoleAdmin, list_of, page_of
from wallets.change_record import record
from wallets.db import in_transaction
from wallets.errors import Problem

MAX_REASON = 300


class ReasonForm(forms.Form):
    """Why it is done. `row` is what it is done to; none for an action of a list."""

    reason = forms.CharField(
        max_length=MAX_REASON,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3, "autofocus": True}),
        help_text="kept in the record of changes, with your name",
    )

    def __init__(self, data: Any, *, row: Any) -> None:
        super().__init__(data)
        self.row = row


def may(permission: str) -> Callable[..., bool]:
    """A page's `has_…_permission`: whether an operator has one of Django's permissions.

    The console would take the permission's own name too, but then looks it up in the database
    whenever a command starts, also before there are tables.
    """

    def has_permission(
        _page: ConsoleAdmin, request: HttpRequest, _object_id: str | None = None
    ) -> bool:
        return bool(request.user.has_perm(permission))

    return has_permission


def with_reason(
    label: str,
    *,
    permission: str,
    icon: str,
    question: str,
    possible: Callable[[Any], bool] = lambda row: True,
    form_class: type[ReasonForm] = ReasonForm,
) -> Callable[[Callable[..., None]], Any]:
    """Make `do(page, operator=…, row=…, reason=…)` a button on a row's page, or on a list.

    It is there for operators who have `permission` (a name as in `has_…_permission`), and while
    the row is one for which it is `possible`. It leads to a page that puts the `question` and asks
    for the reason, and for what else `form_class` has fields, which `do` gets by their names. What
    `do` refuses by raising a Problem is told to the operator; what it did is in the record of
    changes, with the reason.
    """

    def decorate(do: Callable[..., None]) -> Any:
        @in_transaction
        def done(page: ConsoleAdmin, request: HttpRequest, row: Model | None, said: Any) -> None:
            repeated = row is not None and not possible(row)
            do(page, operator=request.user, row=row, **said)
            if not repeated:
                words = f"{label}: {_in_words(said)}"
                record(operator=request.user, changed=row or page.model, words=words)

        @action(description=label, url_path=do.__name__, icon=icon, permissions=[permission])
        @wraps(do)
        def view(
            page: ConsoleAdmin, request: HttpRequest, object_id: str | None = None
        ) -> HttpResponse:
            row = page.get_object(request, object_id) if object_id else None
            if object_id and row is None:
                raise Http404
            back = page_of(row) if row else list_of(page.model)
            form = form_class(request.POST or None, row=row)
            if not form.is_valid():
                title = f"{label}: {row}" if row else label
                shown = {"form": form, "title": title, "question": question, "back": back}
                return _ask(page, request, original=row, **shown)
            try:
                done(page, request, row, form.cleaned_data)
            except Problem as problem:
                page.message_user(request, problem.detail, messages.ERROR)
            else:
                page.message_user(request, f"{label}: done.", messages.SUCCESS)
            return redirect(back)

        view.possible = possible
        return view

    return decorate


def _in_words(said: dict[str, Any]) -> str:
    """What the operator filled in, the reason last."""
    others = [f"{name} {value}" for name, value in said.items() if name != "reason"]
    return ", ".join([*others, said["reason"]])


def _ask(page: ConsoleAdmin, request: HttpRequest, **context: Any) -> TemplateResponse:
    shown = {**page.admin_site.each_context(request), "opts": page.model._meta, **context}
    return TemplateResponse(request, "admin/ask_for_reason.html", shown)


class HasActions(ConsoleAdmin):
    """A page with buttons made by `with_reason`; `actions_detail` names them."""

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[UnfoldAction]:
        """Those that this operator may use, and that are possible now."""
        row = self.get_object(request, object_id)
        allowed = super().get_actions_detail(request, object_id)
        return [each for each in allowed if row is not None and each.method.possible(row)]
