"""The audit: every truth about money, looked for in the rows themselves."""

from collections.abc import Iterator
from dataclasses import dataclass

import structlog
from django.utils import timezone

from contracts.audit import CHECKS as CHAIN_CHECKS
from matches.audit import CHECKS as MATCH_CHECKS
from wallets.audit import BEGINNING, NotSeen, Since
from wallets.audit import CHECKS as LEDGER_CHECKS
from wallets.db import unhurried
from wallets.models import AuditRun

CHECKS = (*LEDGER_CHECKS, *MATCH_CHECKS, *CHAIN_CHECKS)
# Of each truth that is broken, so many rows are kept: enough to see what it is.
KEPT_ROWS = 100
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Finding:
    """A truth, and the rows that break it: none is green, unless it could not be looked into."""

    truth: str
    broken: list[str]
    unseen: str = ""

    @property
    def is_green(self) -> bool:
        """Whether it was looked into, and holds."""
        return not (self.broken or self.unseen)


def findings(*, whole: bool) -> Iterator[Finding]:
    """Look into every truth, one after the other, since the last seal or the beginning."""
    since = BEGINNING if whole else Since.last_seal()
    for check in CHECKS:
        try:
            yield Finding(check.truth, check.find(since))
        except NotSeen as error:
            yield Finding(check.truth, [], str(error))


def run_audit(*, whole: bool = False) -> AuditRun:
    """Audit, keep the result, and log an error if it is red."""
    started_at = timezone.now()
    with unhurried():
        found = list(findings(whole=whole))
    run = AuditRun.objects.create(
        started_at=started_at,
        finished_at=timezone.now(),
        whole=whole,
        broken=sum(bool(finding.broken) for finding in found),
        unseen=sum(bool(finding.unseen) for finding in found),
        findings=[
            {
                "truth": finding.truth,
                "off": len(finding.broken),
                "rows": finding.broken[:KEPT_ROWS],
                "unseen": finding.unseen,
            }
            for finding in found
        ],
    )
    for finding in run.findings:
        if finding["off"]:
            log.error("the audit is red", audit=run.pk, **finding)
        elif finding["unseen"]:
            log.warning("the audit could not look", audit=run.pk, **finding)
    return run
