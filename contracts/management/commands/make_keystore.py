import json
import os
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from eth_account import Account

from contracts.signer import NoKey, load_key


class Command(BaseCommand):
    """Makes the signer's key."""

    help = (
        "Make a new key for the signer of withdrawals and write it, encrypted with "
        "WITHDRAWAL_KEYSTORE_PASSWORD, to WITHDRAWAL_KEYSTORE. Prints its address, which the "
        "vault's owner has to set; never the key."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Options."""
        parser.add_argument(
            "--keep", action="store_true", help="if the file is there, print its address"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        """Make the file, never over another one."""
        path = Path(settings.WITHDRAWAL_KEYSTORE)
        if not (settings.WITHDRAWAL_KEYSTORE and settings.WITHDRAWAL_KEYSTORE_PASSWORD):
            raise CommandError("Set WITHDRAWAL_KEYSTORE and WITHDRAWAL_KEYSTORE_PASSWORD.")
        if options["keep"] and path.exists():
            try:
                self.stdout.write(load_key().address)
            except NoKey as error:
                raise CommandError(str(error)) from None
            return
        account = Account.create()
        content = json.dumps(account.encrypt(settings.WITHDRAWAL_KEYSTORE_PASSWORD))
        try:
            # Exclusive, and closed to others before anything is in it.
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(content)
        except FileExistsError:
            raise CommandError(
                "WITHDRAWAL_KEYSTORE is there already; it is left as it is."
            ) from None
        except OSError as error:
            raise CommandError(
                f"WITHDRAWAL_KEYSTORE can't be written ({error.strerror})."
            ) from None
        self.stdout.write(account.address)
