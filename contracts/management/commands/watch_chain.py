import time
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from contracts.models import Chain, Deposit
from contracts.node import NODE_ERRORS, Header, reason
from contracts.progress import Report, reporting
from contracts.reader import Part
from contracts.rescans import go_back, look
from contracts.watcher import scan


class Command(BaseCommand):
    """Watches a chain in the foreground."""

    help = (
        "Watch a chain in the foreground, as the workers do; beside them it takes turns. "
        "Ctrl-C stops it at any time."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Options."""
        parser.add_argument("--chain", type=int, help="its id (default: CHAIN_ID)")
        parser.add_argument(
            "--from-block",
            type=int,
            help="read again from this block on; what is stored is stored once",
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="read to the head and store nothing"
        )
        parser.add_argument("--once", action="store_true", help="stop at the head")
        parser.add_argument(
            "--accept-new-chain",
            action="store_true",
            help="the chain started over, and its deposits of before are to be taken back",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        """Watch."""
        chain_id = options["chain"] or settings.CHAIN_ID
        if not Chain.objects.filter(pk=chain_id).exists():
            raise CommandError(f"Chain {chain_id} is not on watch; deploy a vault on it first.")
        try:
            with reporting(self.stdout, f"chain {chain_id}") as report:
                if options["dry_run"]:
                    self._look(chain_id, options["from_block"], report)
                    return
                if options["from_block"] is not None:
                    go_back(chain_id, first=options["from_block"])
                self._watch(chain_id, options["once"], options["accept_new_chain"], report)
        except KeyboardInterrupt:
            self.stdout.write("Stopped.")
        except NODE_ERRORS as error:
            # `from None`: the cause may hold the node's URL.
            raise CommandError(reason(error)) from None

    def _look(self, chain_id: int, first: int | None, report: Report) -> None:
        known = Deposit.objects.filter(vault__chain=chain_id).exclude(
            status=Deposit.Status.ORPHANED
        )
        deposits, new = 0, 0
        for part, head in look(chain_id, first=first):
            deposits += len(part.seen)
            stored = known.filter(
                block_number__gt=part.below.number, block_number__lte=part.last.number
            )
            keys = set(stored.values_list("block_hash", "log_index"))
            new += sum((d.block_hash, d.log_index) not in keys for d in part.seen)
            report(part.last.number, head.number, f"{deposits:,} deposits")
        self.stdout.write(f"{deposits} deposits, {new} of them not stored yet. Nothing was stored.")

    def _watch(self, chain_id: int, once: bool, accept_new_chain: bool, report: Report) -> None:
        deposits = 0

        def progress(part: Part, head: Header) -> None:
            nonlocal deposits
            deposits += len(part.seen)
            report(part.last.number, head.number, f"{deposits:,} deposits")

        told, read_before = "", -1
        while True:
            done = scan(chain_id, accept_new_chain=accept_new_chain, progress=progress)
            chain = Chain.objects.get(pk=chain_id)
            if chain.paused:
                raise CommandError("The chain is paused in the console.")
            # There are troubles that hold nothing up: what is left to read is read first.
            stands = chain.scanned_block in (chain.head_block, read_before)
            if done and chain.trouble and once and stands:
                raise CommandError(chain.trouble)
            read_before = chain.scanned_block
            if done and chain.trouble != told:
                told = chain.trouble
                self.stdout.write(told or "All is well again.")
            accept_new_chain = accept_new_chain and not done
            at_head = done and not chain.trouble and chain.scanned_block == chain.head_block
            if once and at_head:
                self.stdout.write(f"At the head, block {chain.scanned_block}.")
                return
            if not done or at_head or chain.trouble:
                time.sleep(settings.CHAIN_POLL_SECONDS)
