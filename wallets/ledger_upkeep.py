"""The ledger's periodic work: rolling system accounts up, and sealing days.

Both need to know a posting below which nothing can appear any more. Ids are handed out before the
transactions that use them commit, so the newest visible id is not enough: `settled_posting` waits
until every transaction that was open when it looked has ended.
"""

import hashlib
import time
from datetime import UTC, date, datetime, timedelta

import pglock
import structlog
from django.db import connection
from django.utils import timezone

from wallets.db import in_transaction
from wallets.models import Seal

# How long to wait for open transactions before the work is left for the next time.
SETTLE_SECONDS = 10
# The transactions that have written, or are about to write, a posting.
WRITERS = """
    SELECT virtualtransaction FROM pg_locks
    WHERE locktype = 'relation' AND relation = 'wallets_posting'::regclass
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND mode = 'RowExclusiveLock' AND granted
"""
# Everything of a posting and its transfer, in one fixed form.
SEALED_ROWS = """
    COPY (
        SELECT p.id, p.account_id, p.amount, p.version, p.previous_balance, p.balance,
               t.id, t.key, t.kind, t.memo, t.reverses_id,
               extract(epoch FROM t.created_at)
        FROM wallets_posting p JOIN wallets_transfer t ON t.id = p.transfer_id
        WHERE p.id > %s AND p.id <= %s
        ORDER BY p.id
    ) TO STDOUT
"""
log = structlog.get_logger(__name__)


class NotSettled(Exception):
    """Transactions that were open have not ended in time; try again later."""


def settled_posting() -> int:
    """The id of a posting up to which all are visible, and none will ever be added.

    Raises NotSettled. Call it outside a transaction: one that has posted would wait for itself.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT coalesce(pg_sequence_last_value('wallets_posting_id_seq'), 0)")
        (newest,) = cursor.fetchone()
        # Whoever was given an id up to that one had locked the table before, and holds the lock
        # until its transaction ends.
        cursor.execute(WRITERS)
        writers = {writer for (writer,) in cursor.fetchall()}
        deadline = time.monotonic() + SETTLE_SECONDS
        while writers:
            if time.monotonic() > deadline:
                raise NotSettled
            time.sleep(0.02)
            cursor.execute(WRITERS)
            writers &= {writer for (writer,) in cursor.fetchall()}
    return int(newest)


def roll_up() -> None:
    """Sum up what has been posted to system accounts, so that their balances are quick to read.

    Safe at any time and in any number. Raises NotSettled.
    """
    posting = settled_posting()
    with connection.cursor() as cursor:
        cursor.execute("SELECT ledger_roll_up(%s)", [posting])


def seal_days() -> Seal | None:
    """Seal what was posted up to the end of yesterday (UTC), unless that has been done.

    A seal takes in all that is settled when it is made. Returns the new seal, if there is one.
    Raises NotSettled.
    """
    day = (timezone.now().astimezone(UTC) - timedelta(days=1)).date()
    with pglock.advisory("seal the ledger", timeout=0) as acquired:
        if not acquired or Seal.objects.filter(day__gte=day).exists():
            return None
        roll_up()
        return _seal(day, settled_posting())


@in_transaction
def _seal(day: date, posting: int) -> Seal:
    before = Seal.objects.last()
    first = before.posting if before else 0
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
        cursor.execute(
            "SELECT count(*), coalesce(max(transfer_id), %s) FROM wallets_posting "
            "WHERE id > %s AND id <= %s",
            [before.transfer if before else 0, first, posting],
        )
        postings, transfer = cursor.fetchone()
        cursor.execute(
            "SELECT a.id, a.balance - coalesce((SELECT sum(p.amount) FROM wallets_posting p "
            "WHERE p.account_id = a.id AND p.version IS NULL "
            "AND p.id > %s AND p.id <= a.rolled_up_to), 0) "
            "FROM wallets_account a WHERE ledger_is_system(a.kind)",
            [posting],
        )
        balances = {str(account): str(balance) for account, balance in cursor.fetchall()}
    seal = Seal.objects.create(
        day=day,
        posting=posting,
        transfer=transfer,
        postings=postings,
        system_balances=balances,
        hash=hash_of_rows(before.hash if before else "", first, posting),
        sealed_at=timezone.now(),
    )
    # The log is kept elsewhere than the database, and so is this copy of the hash.
    log.info("day sealed", day=str(day), postings=postings, hash=seal.hash)
    return seal


def hash_of_rows(hash_before: str, first: int, last: int) -> str:
    """SHA-256 over the hash before and the rows of postings after `first` up to `last`."""
    digest = hashlib.sha256(hash_before.encode())
    with connection.cursor() as cursor, cursor.copy(SEALED_ROWS, [first, last]) as rows:
        for block in rows:
            digest.update(block)
    return digest.hexdigest()


def broken_seals(since: datetime | None = None) -> list[str]:
    """The seals, made from a moment on or all, that are not the hash of their rows now."""
    broken = []
    hash_before, first = "", 0
    for seal in Seal.objects.order_by("day"):
        if since is None or seal.sealed_at >= since:
            now = hash_of_rows(hash_before, first, seal.posting)
            if now != seal.hash:
                broken.append(f"seal={seal.day} postings={first + 1}..{seal.posting} hash={now}")
        hash_before, first = seal.hash, seal.posting
    return broken
