from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from contracts.models import Chain
from contracts.node import NODE_ERRORS, reason
from contracts.progress import reporting
from contracts.rescans import rescan


class Command(BaseCommand):
    """Reads a range of blocks again."""

    help = (
        "Read a range of blocks again that was read before, and store what is missing of it. Safe "
        "at any time: what is stored is stored and credited once."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Options."""
        parser.add_argument("first", type=int, metavar="FROM", help="the first block")
        parser.add_argument("last", type=int, metavar="TO", help="the last block")
        parser.add_argument("--chain", type=int, help="its id (default: CHAIN_ID)")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Read again."""
        chain_id = options["chain"] or settings.CHAIN_ID
        first, last = options["first"], options["last"]
        if not 0 <= first <= last:
            raise CommandError("FROM and TO must be block numbers, FROM not above TO.")
        if not Chain.objects.filter(pk=chain_id).exists():
            raise CommandError(f"Chain {chain_id} is not on watch.")
        deposits, stored = 0, 0
        try:
            with reporting(self.stdout, f"chain {chain_id}") as report:
                for part, missing in rescan(chain_id, first=first, last=last):
                    deposits += len(part.seen)
                    stored += missing
                    report(part.last.number, last, f"{deposits:,} deposits")
        except NODE_ERRORS as error:
            # `from None`: the cause may hold the node's URL.
            raise CommandError(reason(error)) from None
        self.stdout.write(f"{deposits} deposits; {stored} of them were missing and are stored now.")
