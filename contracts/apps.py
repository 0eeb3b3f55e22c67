from django.apps import AppConfig


class ContractsConfig(AppConfig):
    """The chain: the vault, its deposits, and the watcher that reads them."""

    name = "contracts"
