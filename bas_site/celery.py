"""The Celery app: `celery -A bas_site worker` and `celery -A bas_site beat`."""

import os
from typing import Any

from celery import Celery
from celery.signals import setup_logging
from django_structlog.celery.steps import DjangoStructLogInitStep

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "bas_site.settings")

app = Celery("bas_site")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
# What is logged in a task names it, and the request that sent it.
app.steps["worker"].add(DjangoStructLogInitStep)


@setup_logging.connect
def _keep_the_sites_logging(**_kwargs: Any) -> None:
    """Celery leaves logging alone once this signal has a receiver."""
