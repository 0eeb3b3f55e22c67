from django.apps import AppConfig


class SiteConfig(AppConfig):
    """The site as an app: its templates, commands, and what it tells others."""

    name = "bas_site"

    def ready(self) -> None:
        """Start telemetry before the first request's middleware is loaded."""
        from bas_site import telemetry

        telemetry.start()
