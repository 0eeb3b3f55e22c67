import os

import pytest
from django.db import connection
from psycopg.errors import RaiseException

from bas_site.devstack import ChainNode

GUARDED = """
    CREATE TABLE guarded (id int);
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
    CREATE TRIGGER refuse BEFORE TRUNCATE ON guarded EXECUTE FUNCTION refuse();
    INSERT INTO guarded VALUES (1);
"""


@pytest.mark.django_db(transaction=True)
def test_the_flush_empties_tables_that_refuse_truncate():
    with connection.cursor() as cursor:
        cursor.execute(GUARDED)
        try:
            with pytest.raises(Exception, match="refused") as refusal:
                cursor.execute("TRUNCATE guarded")
            assert isinstance(refusal.value.__cause__, RaiseException)
            connection.ops.execute_sql_flush(["TRUNCATE guarded"])
            cursor.execute("SELECT count(*) FROM guarded")
            assert cursor.fetchone() == (0,)
            cursor.execute("SHOW session_replication_role")
            assert cursor.fetchone() == ("origin",)
        finally:
            cursor.execute("DROP TABLE guarded; DROP FUNCTION refuse")


@pytest.mark.django_db
def test_the_tests_postgres_is_durable_and_on_loopback_only():
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('fsync'), current_setting('listen_addresses')")
        assert cursor.fetchone() == ("on", "127.0.0.1")
    assert os.environ["DEVSTACK_ROOT"]


@pytest.mark.parametrize("attempt", [1, 2])
def test_the_chain_is_as_it_was_before_each_test(chain: ChainNode, attempt: int):
    assert chain.rpc("eth_blockNumber") == "0x0"
    chain.rpc("evm_mine")
    assert chain.rpc("eth_blockNumber") == "0x1"
