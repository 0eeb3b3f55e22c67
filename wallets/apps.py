from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class WalletsConfig(AppConfig):
    """Who you are and what you own."""

    name = "wallets"

    def ready(self) -> None:
        """Keep the database role's grants in step with the tables, and fixed rows there."""
        from wallets.grants import grant_to_app_role

        post_migrate.connect(_ensure_rows, sender=self)
        post_migrate.connect(grant_to_app_role, sender=self)


def _ensure_rows(*, using: str = "default", **_signal: Any) -> None:
    from wallets.models import Asset, Service

    Asset.objects.using(using).get_or_create(code="credits", defaults={"name": "Credits"})
    for name in Service.Name:
        Service.objects.using(using).get_or_create(name=name)
