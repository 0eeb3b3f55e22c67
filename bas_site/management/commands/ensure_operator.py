import os
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from bas_site.roles import ensure_roles
from wallets.models import Wallet


class Command(BaseCommand):
    """Makes an operator, or sets an operator's password; and the roles of all operators."""

    help = (
        "Make an operator for the admin console with the password in OPERATOR_PASSWORD; "
        "if there is one of this name, set the password. Make the groups of bas_site.roles, or "
        "give them their permissions back. Run again, it changes nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Options."""
        parser.add_argument("--username", default="operator")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Make or update the operator."""
        password = os.environ.get("OPERATOR_PASSWORD")
        if not password:
            raise CommandError("Set OPERATOR_PASSWORD.")
        ensure_roles()
        name = options["username"]
        operator = Wallet.objects.filter(username=name).first()
        if operator is None:
            Wallet.objects.create_superuser(name, password)
        elif not operator.check_password(password):
            operator.set_password(password)
            operator.save()
        self.stdout.write(f"Operator {name} is ready.")
