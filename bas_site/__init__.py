"""The site: settings, urls, the Celery app, problem+json errors, health, the development stack."""

from bas_site.celery import app as celery_app

__all__ = ["celery_app"]
