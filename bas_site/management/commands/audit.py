from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bas_site.audit import run_audit
from wallets.models import AuditRun

SHOWN_ROWS = 20


class Command(BaseCommand):
    """Looks for money that is not where it must be."""

    help = (
        "Check every truth about money against the rows themselves, and against what the vaults "
        "hold on the chain. Looks at what was written since the last sealed day, unless --full. "
        "Prints a table; exits with 1 and the rows where something is off, or could not be "
        "looked at because no node answered."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Options."""
        parser.add_argument(
            "--full", action="store_true", help="from the first posting, all seals included"
        )
        parser.add_argument(
            "--rows", type=int, default=SHOWN_ROWS, help="print at most so many rows of a fault"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        """Audit."""
        run = run_audit(whole=options["full"])
        console = Console(file=self.stdout._out, width=None if self.stdout.isatty() else 110)
        console.print(_table(run))
        for finding in run.findings:
            if not finding["off"]:
                continue
            console.print(f"\n[bold]{finding['truth']}[/bold], but:")
            shown = finding["rows"][: options["rows"]]
            for row in shown:
                console.print(f"  {row}", markup=False, soft_wrap=True)
            if (more := finding["off"] - len(shown)) > 0:
                console.print(f"  and {more} more")
        if run.broken:
            raise CommandError(f"The audit is red: {run.broken} of {len(run.findings)} failed.")
        if run.unseen:
            raise CommandError(f"The audit is {run.result}.")


def _table(run: AuditRun) -> Table:
    table = Table(
        "Truth",
        "Result",
        title=f"Audit {'from the beginning' if run.whole else 'since the last seal'}",
        title_justify="left",
    )
    for finding in run.findings:
        if finding["unseen"]:
            result = f"[yellow]not seen[/yellow]: {escape(finding['unseen'])}"
        else:
            result = f"[red]{finding['off']} off[/red]" if finding["off"] else "[green]ok[/green]"
        table.add_row(finding["truth"], result)
    return table
