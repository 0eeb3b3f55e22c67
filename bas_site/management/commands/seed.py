import logging
import time
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from bas_site.seed import SIZES, is_seeded, seed


class Command(BaseCommand):
    """Fills a developer's database with made-up history."""

    help = (
        "Fill the database of a developer's machine with made-up players, deposits and matches, to "
        "look at the console with. Money goes through the ledger. It can be done once."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Options."""
        parser.add_argument("--size", choices=SIZES, default="small")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Fill it, and say how far it is."""
        if not settings.DEVELOPMENT:
            raise CommandError("This is for a developer's machine alone.")
        if is_seeded():
            raise CommandError("This database has been seeded already.")
        began = time.monotonic()

        def say(text: str) -> None:
            self.stdout.write(f"{time.monotonic() - began:6.1f} s  {text}")

        # A line for each thousand deposits would bury the progress.
        logging.disable(logging.INFO)
        try:
            seed(SIZES[options["size"]], say)
        finally:
            logging.disable(logging.NOTSET)
        say("done")
