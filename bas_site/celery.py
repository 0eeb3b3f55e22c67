"""The Celery app: `celery -A bas_site worker` and `celery -A bas_site beat`."""

import os
from typing import Any

from celery import Celery
from celery.signals import setup_logging

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "bas_site.settings")

app = Celery("bas_site")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@setup_logging.connect
def _keep_the_sites_logging(**_kwargs: Any) -> None:
    """Celery leaves logging alone once this signal has a receiver."""
