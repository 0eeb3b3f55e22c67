"""What every page of the operators' console is made of.

Pages show what is named and nothing else: a new field of a model stays off them until somebody
puts it there. The same goes for what may be changed, searched and filtered by. Lists are made for
tables of millions of rows: whatever a page asks of Postgres, an index or a limit bounds it.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import cached_property
from operator import attrgetter
from typing import Any, Literal, NamedTuple

from django.contrib import admin
from django.contrib.admin.utils import flatten_fieldsets
from django.core.paginator import Paginator
from django.db.models import Model, Q, QuerySet
from django.forms import ModelForm
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.text import slugify
from eth_utils.address import to_checksum_address
from unfold.admin import ModelAdmin, TabularInline
from unfold.decorators import display
from unfold.utils import display_for_label
from unfold.views import ChangeList

Show = Callable[[Any], Any]

# --- Cells ------------------------------------------------------------------------------------
ADDRESS, HASH, KEY = (6, 4), (6, 4), (14, 6)  # characters to keep of each in a list
THIN_SPACE = "\u202f"  # narrow, and no line breaks at it


def grouped(number: int) -> str:
    """All digits of a whole number, thousands set apart."""
    return f"{number:,}".replace(",", THIN_SPACE)


def in_coins(amount: int, decimals: int) -> str:
    """An amount of a token's smallest unit in whole tokens, exactly."""
    whole, rest = divmod(abs(amount), 10**decimals)
    fraction = f"{rest:0{decimals}d}".rstrip("0") if rest else ""
    sign = "-" if amount < 0 else ""
    return f"{sign}{grouped(whole)}{'.' if fraction else ''}{fraction}"


def cell(show: Show, head: str) -> Show:
    """A column of a list, or a line of a page."""
    named = display(show, description=head)
    # Not the name of a field, whose help text would come with it.
    named.__name__ = f"cell_{slugify(head).replace('-', '_')}"
    return named


def _value(path: str, show: Show) -> Show:
    """Show what is at a dotted path; a hole on the way there is an empty cell."""
    get = attrgetter(path)

    def shown(row: Any) -> Any:
        try:
            value = get(row)
        except AttributeError:
            return None
        return None if value is None else show(value)

    return shown


def plain(path: str, head: str) -> Show:
    """A value as it is."""
    return cell(_value(path, str), head)


def amount(path: str, head: str, *, signed: bool = False) -> Show:
    """A whole number; `signed` shows a plus as well."""

    def show(number: int) -> str:
        sign = "+" if signed and number > 0 else ""
        return format_html('<span class="amount">{}{}</span>', sign, grouped(number))

    return cell(_value(path, show), head)


def clipped(text: str, keep: tuple[int, int] | None) -> str:
    """A long text without its middle, by characters to keep at its start and its end."""
    start, end = keep or (len(text), 0)
    return f"{text[:start]}…{text[-end:]}" if len(text) > start + end + 1 else text


def code(path: str, head: str, *, keep: tuple[int, int] | None = None) -> Show:
    """A hash, an address or a key; the whole of it is there to be read by pointing at it."""

    def show(text: Any) -> str:
        return text and format_html(
            '<span class="code{}" title="{}">{}</span>',
            " clipped" if keep else "",
            text,
            clipped(str(text), keep),
        )

    return cell(_value(path, show), head)


def moment(path: str, head: str) -> Show:
    """A time, to the second, in UTC."""

    def show(when: datetime) -> str:
        text = f"{when.astimezone(UTC):%Y-%m-%d %H:%M:%S}"
        return format_html('<span class="amount">{}</span>', text)

    return cell(_value(path, show), f"{head} (UTC)")


def status(path: str, head: str, colours: dict[Any, str]) -> Show:
    """A choice as a label in the colour of its meaning."""
    owner, _, field = path.rpartition(".")

    def show(row: Any) -> Any:
        row = attrgetter(owner)(row) if owner else row
        if not (value := getattr(row, field)):
            return None
        text = getattr(row, f"get_{field}_display")()
        return display_for_label((value, text), "-", {value: "default", **colours})

    return cell(show, head)


def to(path: str, head: str, *, text: Show = str, keep: tuple[int, int] | None = None) -> Show:
    """A link to the page of a related row."""

    def show(row: Any) -> str:
        whole = text(row)
        return format_html(
            '<a class="text-link{}{}" href="{}" title="{}">{}</a>',
            " code" if whole.startswith("0x") or ":" in whole else "",
            " clipped" if keep else "",
            page_of(row),
            whole,
            clipped(whole, keep),
        )

    return cell(_value(path, show), head)


def page_of(row: Model) -> str:
    """The address of a row's page."""
    meta = row._meta
    return reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[row.pk])


def list_of(model: type[Model], query: dict[str, Any] | None = None) -> str:
    """The address of a model's list, filtered."""
    meta = model._meta
    path = reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist")
    return f"{path}?{urlencode(query)}" if query else path


# --- Searching --------------------------------------------------------------------------------
class Search(NamedTuple):
    """A kind of whole identifier that a list is searched by.

    Parts of identifiers are not searched for: no index finds them.
    """

    what: str
    pattern: str
    where: Callable[[str], Q]


def by_address(lookup: str, **also: Any) -> Search:
    """Find by an address, however its letters are cased."""
    return Search(
        "address",
        r"0x[0-9a-fA-F]{40}",
        lambda term: Q(**{lookup: to_checksum_address(term)}, **also),
    )


def by_hash(lookup: str, what: str = "transaction hash") -> Search:
    """Find by a 32-byte hash, however its letters are cased."""
    return Search(what, r"0x[0-9a-fA-F]{64}", lambda term: Q(**{lookup: term.lower()}))


def by_uuid(where: Callable[[str], Q], what: str) -> Search:
    """Find by a UUID."""
    pattern = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
    return Search(what, pattern, lambda term: where(term.lower()))


def by_number(lookup: str, what: str, **also: Any) -> Search:
    """Find by a number."""
    return Search(what, r"\d{1,18}", lambda term: Q(**{lookup: int(term)}, **also))


def by_text(lookup: str, what: str, **also: Any) -> Search:
    """Find by any text; the last of a list's searches, since every term looks like it."""
    return Search(what, r".+", lambda term: Q(**{lookup: term}, **also))


# --- From a row to the rows that belong to it --------------------------------------------------
class Related(NamedTuple):
    """A list that a row's page leads to; not there for a row that `query` has nothing for."""

    model: type[Model]
    query: Callable[[Any], dict[str, Any] | Literal[False]]
    icon: str
    name: str


_related: dict[type[Model], list[Related]] = defaultdict(list)


def relate(
    row: type[Model],
    model: type[Model],
    query: Callable[[Any], dict[str, Any] | Literal[False]],
    *,
    icon: str,
    name: str = "",
) -> None:
    """Lead from each page of one model to a list of another.

    Rooms above add theirs to pages of the rooms below, which know nothing of them.
    """
    name = name or str(model._meta.verbose_name_plural)
    _related[row].append(Related(model, query, icon, name.capitalize()))


ENDINGS = (
    "",
    "__exact",
    "__id__exact",
    "__code__exact",
    "__isnull",
    "__gte",
    "__lt",
    "__in",
)


# --- Pages ------------------------------------------------------------------------------------
class BoundedPaginator(Paginator):  # type: ignore[type-arg]
    """Counts up to a limit. Pages far behind it would cost a scan; a search finds their rows."""

    LIMIT = 10_000

    @cached_property
    def count(self) -> int:
        """Rows, or the limit if there are more."""
        rows: QuerySet[Any] = self.object_list  # type: ignore[assignment]
        return rows.order_by()[: self.LIMIT].count()


class FilteredList(ChangeList):
    """A list that says how many rows it has found only if it was asked to find some."""

    def get_results(self, request: HttpRequest) -> None:
        """Get the rows. Without a filter, those that were found are all."""
        super().get_results(request)
        if not (self.query or self.filter_params):
            self.full_result_count = self.result_count


class ConsoleAdmin(ModelAdmin):
    """A list and a page of what is named in it; `editable` names what may be changed."""

    searches: tuple[Search, ...] = ()
    editable: tuple[str, ...] = ()
    grants: tuple[str, ...] = ("view",)  # permissions that mean something here
    linked_by: tuple[str, ...] = ()  # lookups, besides the filters, that links use
    nothing_here = "Nothing has been written here yet."

    actions = None
    list_per_page = 50
    list_max_show_all = 0
    paginator = BoundedPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    ordering = ("-pk",)
    sortable_by = ()

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        """The kind of its list."""
        return FilteredList

    @property
    def search_help_text(self) -> str:
        """What the search box says it takes."""
        return " or ".join(dict.fromkeys(s.what for s in self.searches)).capitalize()

    def get_search_fields(self, request: HttpRequest) -> tuple[str, ...]:
        """Not used as lookups: where there are any, there is a search box."""
        return tuple(search.what for search in self.searches)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Find by the first kind of identifier that the term is one of."""
        term = search_term.strip()
        if not term:
            return queryset, False
        for search in self.searches:
            if re.fullmatch(search.pattern, term):
                return queryset.filter(search.where(term)), False
        return queryset.none(), False

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        """Only filters and links: any other lookup would let a secret be guessed letter by letter.

        `?invitation__startswith=a` answers a question about a field that no page shows.
        """
        filters = (f if isinstance(f, str) else f[0] for f in self.get_list_filter(request))
        return any(
            lookup in {name + ending for ending in ENDINGS} for name in (*filters, *self.linked_by)
        )

    def editable_fields(self, request: HttpRequest, obj: Model | None) -> Iterable[str]:
        """Fields of this row that this operator may change."""
        return self.editable

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[Any]:
        """Everything that is not editable."""
        editable = set(self.editable_fields(request, obj))
        return [f for f in flatten_fieldsets(self.get_fieldsets(request, obj)) if f not in editable]

    def save_model(self, request: HttpRequest, obj: Model, form: ModelForm, change: bool) -> None:
        """Write only what was changed: others write to the same row meanwhile, the watcher say."""
        if change:
            columns = {field.name for field in obj._meta.concrete_fields}
            obj.save(update_fields=columns.intersection(form.changed_data))
        else:
            super().save_model(request, obj, form, change)

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> TemplateResponse:
        """Add the lists that belong to the row, those that this operator may see."""
        obj = kwargs.get("obj")
        context["show_save_and_add_another"] = False
        context["related_lists"] = [
            {"name": related.name, "icon": related.icon, "url": list_of(related.model, query)}
            for related in _related[self.model]
            if obj is not None
            and self.admin_site.get_model_admin(related.model).has_view_permission(request)
            and (query := related.query(obj))
        ]
        return super().render_change_form(request, context, *args, **kwargs)


class ReadOnlyAdmin(ConsoleAdmin):
    """Rows that nobody writes by hand, superusers included."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nobody."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nobody."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nobody."""
        return False


class ReadOnlyInline(TabularInline):
    """Rows of another table on a row's page, to be read."""

    extra = max_num = 0
    can_delete = False
    hide_title = True
    per_page = 50
    related: tuple[str, ...] = ()  # for select_related

    has_add_permission = ReadOnlyAdmin.has_add_permission
    has_change_permission = ReadOnlyAdmin.has_change_permission
    has_delete_permission = ReadOnlyAdmin.has_delete_permission

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[Any]:
        """All of them."""
        return list(self.fields)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """The rows with what their cells name."""
        return super().get_queryset(request).select_related(*self.related)
