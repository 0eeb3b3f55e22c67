from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from wallets.change_record import record
from wallets.db import in_transaction
from wallets.errors import Forbidden
from wallets.models import Service, Wallet
from wallets.services import pause_service, resume_service


class Command(BaseCommand):
    """Pauses and resumes services while no console runs."""

    help = (
        "Pause or resume what players use, as the console does; for when the console must not run "
        "yet. An operator who may do so has to be named, and a reason, which players are shown "
        "while it is paused; both are in the record of changes."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Options."""
        parser.add_argument("what", choices=["pause", "resume"])
        parser.add_argument(
            "names", nargs="+", choices=Service.Name.values, metavar="SERVICE", help="%(choices)s"
        )
        parser.add_argument("--operator", required=True, help="the username of who does it")
        parser.add_argument("--reason", required=True)

    def handle(self, *_args: Any, **options: Any) -> None:
        """Pause or resume all that are named, or none."""
        operator = Wallet.objects.filter(username=options["operator"]).first()
        if operator is None:
            raise CommandError(f"No operator is called {options['operator']}.")
        try:
            _change(operator, options["what"], options["names"], options["reason"].strip())
        except Forbidden:
            raise CommandError(f"{operator} may not pause services.") from None
        except ValueError as error:
            raise CommandError(str(error)) from None
        for service in Service.objects.order_by("pk"):
            state = f"paused: {service.pause_reason}" if service.pause_reason else "running"
            self.stdout.write(f"{service.pk}: {state}")


@in_transaction
def _change(operator: Wallet, what: str, names: list[str], reason: str) -> None:
    for name in names:
        if what == "pause":
            pause_service(operator=operator, name=name, reason=reason)
        else:
            resume_service(operator=operator, name=name)
        words = f"{what.capitalize()}: {reason}"
        record(operator=operator, changed=Service(name), words=words)
