from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection
from rich.console import Console
from rich.table import Table

from bas_site.audit import Finding, audit

SHOWN_ROWS = 20


class Command(BaseCommand):
    """Looks for money that is not where it must be."""

    help = (
        "Check every truth about money against the rows themselves, and against what the vaults "
        "hold on the chain. Prints a table; exits with 1 and the rows where something is off."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Options."""
        parser.add_argument(
            "--rows", type=int, default=SHOWN_ROWS, help="print at most so many rows of a fault"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        """Audit."""
        with connection.cursor() as cursor:
            # A whole history takes longer than any request may.
            cursor.execute("SET statement_timeout = 0")
        console = Console(file=self.stdout._out, width=None if self.stdout.isatty() else 110)
        findings = list(audit())
        console.print(_table(findings))
        red = [finding for finding in findings if finding.broken]
        for finding in red:
            console.print(f"\n[bold]{finding.truth}[/bold], but:")
            for row in finding.broken[: options["rows"]]:
                console.print(f"  {row}", markup=False, soft_wrap=True)
            if (more := len(finding.broken) - options["rows"]) > 0:
                console.print(f"  and {more} more")
        if red:
            raise CommandError(f"The audit is red: {len(red)} of {len(findings)} checks failed.")


def _table(findings: list[Finding]) -> Table:
    table = Table("Truth", "Audit", title="Audit", title_justify="left")
    for finding in findings:
        verdict = f"[red]{len(finding.broken)} off[/red]" if finding.broken else "[green]ok[/green]"
        table.add_row(finding.truth, verdict)
    return table
