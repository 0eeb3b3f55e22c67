"""The same ledger as one writes it in plain Django: the baseline for the application's side.

It is correct among processes that all use it, and lean: the cause is inserted and not looked up
first, rows are locked by one query, postings are written by one. It writes the very same rows, so
it keeps no balance for system accounts either. Postgres checks nothing.
"""

from collections.abc import Sequence

from django.db import IntegrityError, transaction
from django.utils import timezone

from wallets.errors import InsufficientCredits, LedgerRefusal
from wallets.ledger import Leg
from wallets.models import Account, Posting, Transfer


def post(*, key: str, kind: str, legs: Sequence[Leg]) -> Transfer:
    """Post a transfer, or return the one that was posted under this key."""
    if sum(leg.amount for leg in legs) != 0:
        raise LedgerRefusal(f"{key}: the legs do not sum to zero")
    try:
        with transaction.atomic():
            return _write(key=key, kind=kind, legs=legs)
    except IntegrityError:
        return Transfer.objects.get(key=key, kind=kind)


def _write(*, key: str, kind: str, legs: Sequence[Leg]) -> Transfer:
    transfer = Transfer.objects.create(key=key, kind=kind, created_at=timezone.now())
    kept = (
        Account.objects.select_for_update()
        .filter(pk__in=[leg.account for leg in legs])
        .exclude(kind__in=Account.SYSTEM)
        .order_by("pk")
    )
    accounts = {account.pk: account for account in kept}
    postings = []
    for leg in legs:
        posting = Posting(transfer=transfer, account_id=leg.account, amount=leg.amount)
        if account := accounts.get(leg.account):
            posting.previous_balance = account.balance
            account.balance += leg.amount
            account.version += 1
            if account.balance < 0:
                raise InsufficientCredits
            posting.balance, posting.version = account.balance, account.version
        postings.append(posting)
    Posting.objects.bulk_create(postings)
    for account in accounts.values():
        account.save(update_fields=["balance", "version"])
    return transfer
