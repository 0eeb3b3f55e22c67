from django.contrib.admin.apps import AdminConfig


class ConsoleConfig(AdminConfig):
    """Django's admin on the console's own site."""

    default_site = "bas_site.console_site.ConsoleSite"
