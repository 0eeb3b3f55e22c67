from django.apps import AppConfig


class SiteConfig(AppConfig):
    """The site as an app: its templates, commands, and what it tells others."""

    name = "bas_site"

    def ready(self) -> None:
        """Start telemetry before the first request's middleware is loaded."""
        from django.conf import settings

        # Not imported in vain: every process and command would wait for it.
        if settings.SENTRY_DSN or settings.OTEL_EXPORTER_OTLP_ENDPOINT:
            from bas_site import telemetry

            telemetry.start()
