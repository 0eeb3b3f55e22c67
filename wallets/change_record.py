"""The record of changes: what operators did by hand, and why."""

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db.models import Model

from wallets.models import Wallet


def record(*, operator: Wallet, changed: Model | type[Model], words: str) -> None:
    """Note what an operator did to a row, or to a model's list."""
    row = changed if isinstance(changed, Model) else None
    LogEntry.objects.create(
        user=operator,
        content_type=ContentType.objects.get_for_model(changed, for_concrete_model=False),
        object_id=row and str(row.pk),
        object_repr=str(row or changed._meta.verbose_name_plural)[:200],
        action_flag=CHANGE,
        change_message=words,
    )
