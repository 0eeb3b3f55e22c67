"""Periodic work that spans the rooms."""

from celery import shared_task

from bas_site import audit, figures
from contracts import funding
from matches import fair_play


@shared_task(soft_time_limit=3600, time_limit=3700)
def run_audit(*, whole: bool = False) -> bool:
    """Audit what was written since the last seal, or all; whether it is green. Red is logged."""
    return not audit.run_audit(whole=whole).broken


@shared_task
def note_figures() -> None:
    """Note the house's figures for the console's charts; twice in a period, it changes nothing."""
    figures.note_figures()


@shared_task
def trace_funding() -> int:
    """Look up who first paid players who meet often, a few at a time; how many."""
    return funding.trace_funding(fair_play.candidates())
