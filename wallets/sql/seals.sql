-- A seal that could be changed would prove nothing.
CREATE TRIGGER ledger_refuse_change BEFORE UPDATE OR DELETE ON wallets_seal
    FOR EACH ROW EXECUTE FUNCTION ledger_refuse();
CREATE TRIGGER ledger_refuse_truncate BEFORE TRUNCATE ON wallets_seal
    EXECUTE FUNCTION ledger_refuse();

-- The balance of any account at any moment. Along a kept account time never runs backwards, so its
-- last posting up to the moment is found by halving its versions; a system account is summed up,
-- from the last seal before the moment.
CREATE FUNCTION ledger_balance_at(account bigint, moment timestamptz) RETURNS numeric
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    low bigint := 0;
    high bigint;
    middle bigint;
    sealed record;
BEGIN
    IF (SELECT ledger_is_system(a.kind) FROM wallets_account a WHERE a.id = account) THEN
        SELECT s.posting, (s.system_balances ->> account::text)::numeric AS balance INTO sealed
        FROM wallets_seal s WHERE s.sealed_at <= moment ORDER BY s.posting DESC LIMIT 1;
        RETURN coalesce(sealed.balance, 0) + coalesce((
            SELECT sum(p.amount)
            FROM wallets_posting p JOIN wallets_transfer t ON t.id = p.transfer_id
            WHERE p.account_id = account AND p.version IS NULL
              AND p.id > coalesce(sealed.posting, 0) AND t.created_at <= moment
        ), 0);
    END IF;
    SELECT a.version INTO high FROM wallets_account a WHERE a.id = account;
    WHILE low < high LOOP
        middle := (low + high + 1) / 2;
        IF (SELECT t.created_at
            FROM wallets_posting p JOIN wallets_transfer t ON t.id = p.transfer_id
            WHERE p.account_id = account AND p.version = middle) <= moment
        THEN
            low := middle;
        ELSE
            high := middle - 1;
        END IF;
    END LOOP;
    RETURN coalesce((SELECT p.balance FROM wallets_posting p
                     WHERE p.account_id = account AND p.version = low), 0);
END $$;
