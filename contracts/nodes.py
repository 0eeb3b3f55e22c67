"""How a chain's nodes do: failures are counted by cause, and a node that fails is given a rest."""

import random
from datetime import timedelta

from django.utils import timezone

from contracts.models import Chain, Node
from contracts.node import NodeBusy, Trouble, rpc_urls
from wallets.db import in_transaction

# The rest after a first failure; each further one in a row doubles it.
FIRST_REST_SECONDS = 0.5
LONGEST_BACKOFF_SECONDS = 60


def nodes_to_ask(chain: Chain, *, resting_too: bool = False) -> list[tuple[int, str]]:
    """The chain's nodes that take no rest now, by place and URL, in the order of the settings."""
    resting = set(
        chain.nodes.filter(rests_until__gt=timezone.now()).values_list("place", flat=True)
    )
    return [
        (place, url)
        for place, url in enumerate(rpc_urls(chain.pk), start=1)
        if resting_too or place not in resting
    ]


def count_answer(*, chain: Chain, place: int) -> None:
    """Note that a node did all that it was asked for."""
    well = {"answered_at": timezone.now(), "failures_in_a_row": 0, "rests_until": None}
    if not chain.nodes.filter(place=place).update(**well):
        Node.objects.get_or_create(chain=chain, place=place, defaults=well)


@in_transaction
def count_refusals(*, chain: Chain, place: int, cause: str, times: int) -> None:
    """Count what a node would not do and was asked again in another way at once."""
    _count(chain, place, cause, times)


@in_transaction
def count_failure(*, chain: Chain, place: int, trouble: Trouble) -> None:
    """Count a failure, and let the node rest: as long as it asks for, longer with each in a row."""
    if not trouble.cause:
        return
    node = _count(chain, place, trouble.cause, 1)
    node.failed_at = timezone.now()
    node.last_cause = trouble.cause
    rest = FIRST_REST_SECONDS * 2 ** min(node.failures_in_a_row, 10)
    # With jitter, so that those who were turned away at once don't all come back at once.
    rest = random.uniform(0.5, 1) * min(rest, LONGEST_BACKOFF_SECONDS)  # noqa: S311 - no secret
    if isinstance(trouble, NodeBusy):
        rest = max(rest, trouble.rest_seconds)
    node.rests_until = node.failed_at + timedelta(seconds=rest)
    node.failures_in_a_row += 1
    node.save()


def _count(chain: Chain, place: int, cause: str, times: int) -> Node:
    node, _ = Node.objects.get_or_create(chain=chain, place=place)
    node = Node.objects.select_for_update(no_key=True).get(pk=node.pk)
    node.failures[cause] = node.failures.get(cause, 0) + times
    node.save(update_fields=["failures"])
    return node
