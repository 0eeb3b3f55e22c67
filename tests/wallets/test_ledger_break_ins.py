"""Attempts to bend the ledger by SQL, as the application's own role and as the tables' owner."""

import pytest
from django.db import connection, transaction

from tests.wallets.ledger_helpers import as_app_role, ledger_rows, new_escrow, new_wallet, refused
from wallets import ledger
from wallets.errors import LedgerRefusal
from wallets.models import Account, Transfer

pytestmark = pytest.mark.django_db(transaction=True)

# What Postgres says: not your table; the ledger's own refusals.
NO_PRIVILEGE = "42501"
STAYS, NOT_VALID, NO_FUNDS = "BA004", "BA003", "BA001"

LEG = (
    "INSERT INTO wallets_posting "
    "(transfer_id, account_id, amount, version, previous_balance, balance)"
)


@pytest.fixture
def scene():
    """A player with 100 credits of whom 30 are staked."""
    wallet, escrow = new_wallet(100), new_escrow()
    account = ledger.player_account(wallet)
    receipt = ledger.move(
        kind=Transfer.Kind.STAKE, key="stake:1", source=account, target=escrow, amount=30
    )
    return {
        "player": account.pk,
        "escrow": escrow.pk,
        "vault": ledger.system_account(Account.Kind.VAULT).pk,
        "transfer": receipt.transfer_id,
    }


# Twelve ways in, in the words of whoever tries them.
BREAK_INS = {
    "raise a balance": "UPDATE wallets_account SET balance = balance + 1 WHERE id = {player}",
    "raise a balance and its version": "UPDATE wallets_account "
    "SET balance = balance + 1, version = version + 1 WHERE id = {player}",
    "empty an account as if it were new": "UPDATE wallets_account "
    "SET balance = 0, version = 0 WHERE id = {player}",
    "put an account back to what it had before": "UPDATE wallets_account "
    "SET balance = 100, version = 1 WHERE id = {player}",
    "open an account that has something": "INSERT INTO wallets_account "
    "(asset_id, kind, key, balance, version, created_at) "
    "VALUES ('credits', 'available', 'wallet:forged', 1000, 1, now())",
    "change the amount of a posting": "UPDATE wallets_posting SET amount = 31, "
    "balance = previous_balance + 31 WHERE transfer_id = {transfer} AND account_id = {escrow}",
    "move a leg to another transfer": "UPDATE wallets_posting SET transfer_id = 1 "
    "WHERE transfer_id = {transfer}",
    "move a leg to another account": "UPDATE wallets_posting SET account_id = {vault}, "
    "version = NULL, previous_balance = NULL, balance = NULL "
    "WHERE transfer_id = {transfer} AND account_id = {escrow}",
    "delete a posting": "DELETE FROM wallets_posting WHERE transfer_id = {transfer}",
    "delete a transfer": "DELETE FROM wallets_transfer WHERE id = {transfer}",
    "rename a transfer so that its cause can be used again": "UPDATE wallets_transfer "
    "SET key = 'other' WHERE id = {transfer}",
    "empty the tables": "TRUNCATE wallets_posting, wallets_transfer CASCADE",
    "give an account to somebody else": "UPDATE wallets_account SET wallet_id = NULL, "
    "key = 'stolen' WHERE id = {player}",
    "delete an account": "DELETE FROM wallets_account WHERE id = {player}",
    "add a leg to a transfer": LEG + " VALUES ({transfer}, {player}, 5, 3, 70, 75)",
    "add a transfer whose legs do not sum to zero": "WITH t AS (INSERT INTO wallets_transfer "
    "(key, kind, memo, created_at) VALUES ('forged', 'deposit', '', now()) RETURNING id), "
    "a AS (UPDATE wallets_account SET balance = 75, version = 3 WHERE id = {player}) "
    + LEG
    + " SELECT id, {player}, 5, 3, 70, 75 FROM t",
    "add a transfer out of an empty pocket": "WITH t AS (INSERT INTO wallets_transfer "
    "(key, kind, memo, created_at) VALUES ('forged', 'stake', '', now()) RETURNING id), "
    "a AS (UPDATE wallets_account SET balance = -30, version = 3 WHERE id = {player}) "
    + LEG
    + " SELECT id, {player}, -100, 3, 70, -30 FROM t",
    "add postings that do not move the balance": "WITH t AS (INSERT INTO wallets_transfer "
    "(key, kind, memo, created_at) VALUES ('forged', 'stake', '', now()) RETURNING id) "
    + LEG
    + " SELECT id, {player}, -5, 3, 70, 65 FROM t "
    "UNION ALL SELECT id, {escrow}, 5, 2, 30, 35 FROM t",
    "rewrite an account's past": "WITH t AS (INSERT INTO wallets_transfer "
    "(key, kind, memo, created_at) VALUES ('forged', 'stake', '', now()) RETURNING id) "
    + LEG
    + " SELECT id, {player}, 5, 9, 500, 505 FROM t "
    "UNION ALL SELECT id, {vault}, -5, NULL, NULL, NULL FROM t",
}


@pytest.mark.parametrize("name", BREAK_INS)
def test_the_applications_role_is_refused_when_it_tries_to(name, scene):
    rows = ledger_rows()
    with as_app_role() as cursor, refused(), transaction.atomic():
        cursor.execute(BREAK_INS[name].format(**scene))
    assert ledger_rows() == rows


@pytest.mark.parametrize("name", BREAK_INS)
def test_even_the_tables_owner_is_refused_when_it_tries_to(name, scene):
    rows = ledger_rows()
    with connection.cursor() as cursor, refused(), transaction.atomic():
        cursor.execute(BREAK_INS[name].format(**scene))
    assert ledger_rows() == rows


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE wallets_posting SET transfer_id = 1",
        "UPDATE wallets_posting SET amount = 31, balance = 31",
        "DELETE FROM wallets_posting",
    ],
)
def test_a_leg_that_is_bent_while_nothing_else_would_refuse_it_is_seen_at_commit(sql, scene):
    rows = ledger_rows()
    with refused(NOT_VALID), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("ALTER TABLE wallets_posting DISABLE TRIGGER ledger_refuse_change")
        cursor.execute(
            f"{sql} WHERE transfer_id = %s AND account_id = %s",
            [scene["transfer"], scene["escrow"]],
        )
    assert ledger_rows() == rows


@pytest.mark.parametrize(
    "sql",
    [
        "ALTER TABLE wallets_posting DISABLE TRIGGER ALL",
        "DROP TRIGGER ledger_check_postings ON wallets_posting",
        "SET session_replication_role = replica",
        "CREATE OR REPLACE FUNCTION ledger_refuse() RETURNS trigger LANGUAGE plpgsql "
        "AS 'BEGIN RETURN NULL; END'",
        "CREATE TABLE public.anything (id int)",
    ],
)
def test_the_applications_role_can_not_take_the_locks_off(sql, scene):
    with as_app_role() as cursor, refused(), transaction.atomic():
        cursor.execute(sql)


@pytest.mark.parametrize("amount", [-30, 30])
def test_what_was_bent_with_the_locks_off_takes_no_transfer_that_would_mend_it(amount, scene):
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(f"UPDATE wallets_account SET balance = 100 WHERE id = {scene['player']}")
    legs = [ledger.Leg(scene["player"], amount), ledger.Leg(scene["vault"], -amount)]
    mend = ledger.Draft(key="mend", kind=Transfer.Kind.ADJUSTMENT, legs=legs)
    with pytest.raises(LedgerRefusal):
        ledger.post(mend)


def test_a_temporary_table_of_the_same_name_fools_nobody(scene):
    with as_app_role() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE wallets_account (LIKE wallets_account)")
        cursor.execute("INSERT INTO pg_temp.wallets_account SELECT * FROM public.wallets_account")
        cursor.execute("UPDATE pg_temp.wallets_account SET balance = 1000000")
        with refused(NO_FUNDS):
            cursor.execute(
                "SELECT * FROM ledger_post(ARRAY['forged'], ARRAY['stake'], ARRAY[''], "
                "ARRAY[NULL::bigint], ARRAY[1, 1], ARRAY[%s, %s]::bigint[], ARRAY[-1000, 1000])",
                [scene["player"], scene["escrow"]],
            )
        cursor.execute("DROP TABLE pg_temp.wallets_account")


def test_the_applications_role_may_post_by_the_function(scene):
    with as_app_role() as cursor:
        cursor.execute(
            "SELECT * FROM ledger_post(ARRAY['by role'], ARRAY['stake'], ARRAY[''], "
            "ARRAY[NULL::bigint], ARRAY[1, 1], ARRAY[%s, %s]::bigint[], ARRAY[-10, 10])",
            [scene["player"], scene["escrow"]],
        )
    assert Account.objects.get(pk=scene["player"]).balance == 60
