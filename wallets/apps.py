from pathlib import Path
from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.models.signals import post_migrate


class WalletsConfig(AppConfig):
    """Who you are and what you own."""

    name = "wallets"

    def ready(self) -> None:
        """After each migration: the ledger's functions, fixed rows, and the role's grants."""
        from wallets.grants import grant_to_app_role

        post_migrate.connect(_replace_functions, sender=self)
        post_migrate.connect(_ensure_rows, sender=self)
        post_migrate.connect(grant_to_app_role, sender=self)


def _replace_functions(*, using: str = "default", **_signal: Any) -> None:
    with connections[using].cursor() as cursor:
        cursor.execute((Path(__file__).parent / "sql" / "ledger.sql").read_text())


def _ensure_rows(*, using: str = "default", **_signal: Any) -> None:
    from wallets.models import Asset, Service

    Asset.objects.using(using).get_or_create(code="credits", defaults={"name": "Credits"})
    for name in Service.Name:
        Service.objects.using(using).get_or_create(name=name)
