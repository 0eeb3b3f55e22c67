import sys
from argparse import FileType
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from eth_utils.address import is_address, to_checksum_address
from rich.console import Console
from rich.progress import track

from wallets import selectors
from wallets.export import FORMATS, lines
from wallets.models import Wallet


class Command(BaseCommand):
    """Exports a player's statement."""

    help = "Export every change of a player's credits, oldest first, with the balance it left."

    def add_arguments(self, parser: CommandParser) -> None:
        """Options."""
        parser.add_argument("address", help="the player's address, in any casing")
        parser.add_argument("--format", choices=list(FORMATS), default="csv")
        parser.add_argument(
            "--output",
            type=FileType("w", encoding="utf-8"),
            default="-",
            help="a file; standard output by default",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        """Export; progress goes to standard error."""
        address = options["address"]
        if not is_address(address.lower()):
            raise CommandError(f"{address} is not an address.")
        wallet = Wallet.objects.filter(address=to_checksum_address(address.lower())).first()
        if wallet is None:
            raise CommandError(f"No wallet has the address {address}.")
        _, write = FORMATS[options["format"]]
        rows = track(
            lines(wallet),
            description="Lines",
            total=selectors.statement(wallet).count(),
            console=Console(file=sys.stderr),
            disable=not sys.stderr.isatty(),
        )
        options["output"].writelines(write(rows))
        options["output"].flush()
