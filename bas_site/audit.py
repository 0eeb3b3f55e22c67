"""The audit: every truth about money, looked for in the rows themselves."""

from collections.abc import Iterator
from dataclasses import dataclass

from contracts.audit import CHECKS as CHAIN_CHECKS
from matches.audit import CHECKS as MATCH_CHECKS
from wallets.audit import CHECKS as LEDGER_CHECKS

CHECKS = (*LEDGER_CHECKS, *MATCH_CHECKS, *CHAIN_CHECKS)


@dataclass(frozen=True, slots=True)
class Finding:
    """A truth, and the rows that break it: none of them is green."""

    truth: str
    broken: list[str]


def audit() -> Iterator[Finding]:
    """Look into every truth, one after the other."""
    for check in CHECKS:
        yield Finding(check.truth, check.find())
