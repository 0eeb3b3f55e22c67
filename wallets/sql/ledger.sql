-- The ledger's write path and the truths that Postgres holds by itself.
--
-- Errors, told apart by SQLSTATE:
--   BA001 an account would go below zero        BA002 the key stands for another transfer
--   BA003 not a valid transfer                  BA004 ledger rows are never changed
--   BA005 reversals exceed what they reverse

-- For the roll-up of system accounts: which transaction wrote a posting, and up to which one the
-- balance that a system account carries has summed them. Django has no use for either.
ALTER TABLE wallets_posting ADD COLUMN xid xid8 NOT NULL DEFAULT pg_current_xact_id();
ALTER TABLE wallets_account ADD COLUMN rolled_up_to xid8 NOT NULL DEFAULT '0';
CREATE INDEX posting_to_roll_up ON wallets_posting (account_id, xid) INCLUDE (amount)
    WHERE version IS NULL;
-- An account is rewritten with each posting: room on its page keeps that out of the indexes.
ALTER TABLE wallets_account SET (fillfactor = 50);

CREATE FUNCTION ledger_is_system(kind text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT kind IN ('vault', 'fees', 'house') $$;

-- Posts transfers, all or none, in one round trip. Each of them is
--   {"key", "kind", "memo", "reverses": id or null, "legs": [[account id, amount], ...]}
-- Returns a row for each, in order; `replayed` where it was posted before under the same key.
CREATE FUNCTION ledger_post(transfers jsonb)
RETURNS TABLE (transfer_id bigint, replayed boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    draft jsonb;
    leg jsonb;
    moved numeric;
    kept record;
    written timestamptz;
BEGIN
    -- Every lock that this call needs, in one order, so that no two calls wait for each other.
    PERFORM FROM wallets_account a
    WHERE a.id IN (
        SELECT (l ->> 0)::bigint
        FROM jsonb_array_elements(transfers) t, jsonb_array_elements(t -> 'legs') l
    ) AND NOT ledger_is_system(a.kind)
    ORDER BY a.id FOR NO KEY UPDATE;
    -- Read while the locks are held, so that along each account time never runs backwards.
    written := clock_timestamp();

    FOR draft IN SELECT jsonb_array_elements(transfers) LOOP
        INSERT INTO wallets_transfer (key, kind, memo, reverses_id, created_at)
        VALUES (draft ->> 'key', draft ->> 'kind', draft ->> 'memo',
                (draft ->> 'reverses')::bigint, written)
        ON CONFLICT (key) DO NOTHING
        RETURNING id INTO transfer_id;

        replayed := transfer_id IS NULL;
        IF replayed THEN
            transfer_id := ledger_posted_before(draft);
            RETURN NEXT;
            CONTINUE;
        END IF;

        FOR leg IN SELECT jsonb_array_elements(draft -> 'legs') LOOP
            moved := leg ->> 1;
            UPDATE wallets_account a
            SET balance = a.balance + moved, version = a.version + 1
            WHERE a.id = (leg ->> 0)::bigint AND NOT ledger_is_system(a.kind)
            RETURNING a.id, a.key, a.version, a.balance INTO kept;
            IF NOT FOUND THEN
                INSERT INTO wallets_posting (transfer_id, account_id, amount)
                VALUES (ledger_post.transfer_id, (leg ->> 0)::bigint, moved);
            ELSIF kept.balance < 0 AND moved < 0 AND draft ->> 'kind' <> 'deposit_reversal' THEN
                RAISE EXCEPTION '% has %, % asked', kept.key, kept.balance - moved, -moved
                    USING ERRCODE = 'BA001';
            ELSE
                INSERT INTO wallets_posting
                    (transfer_id, account_id, amount, version, previous_balance, balance)
                VALUES (ledger_post.transfer_id, kept.id, moved, kept.version,
                        kept.balance - moved, kept.balance);
            END IF;
        END LOOP;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'transfer % has no legs', draft ->> 'key' USING ERRCODE = 'BA003';
        END IF;
        IF draft ->> 'reverses' IS NOT NULL THEN
            PERFORM ledger_check_reversals((draft ->> 'reverses')::bigint);
        END IF;
        RETURN NEXT;
    END LOOP;
END $$;

-- The transfer that was posted under this draft's key, if it is the same in every respect.
CREATE FUNCTION ledger_posted_before(draft jsonb) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    posted wallets_transfer%ROWTYPE;
    legs jsonb;
BEGIN
    SELECT * INTO STRICT posted FROM wallets_transfer WHERE key = draft ->> 'key';
    SELECT jsonb_agg(jsonb_build_array(p.account_id, p.amount) ORDER BY p.id) INTO legs
    FROM wallets_posting p WHERE p.transfer_id = posted.id;
    IF (posted.kind, posted.memo, posted.reverses_id, legs) IS DISTINCT FROM
       (draft ->> 'kind', draft ->> 'memo', (draft ->> 'reverses')::bigint, draft -> 'legs') THEN
        RAISE EXCEPTION 'key % was posted before with other content', posted.key
            USING ERRCODE = 'BA002';
    END IF;
    RETURN posted.id;
END $$;

-- All reversals of a transfer together take back at most what it moved, account by account.
CREATE FUNCTION ledger_check_reversals(original bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM FROM wallets_transfer WHERE id = original FOR NO KEY UPDATE;
    IF EXISTS (
        SELECT FROM (
            SELECT coalesce(sum(p.amount) FILTER (WHERE t.id = original), 0) AS moved,
                   sum(p.amount) AS remains
            FROM wallets_transfer t JOIN wallets_posting p ON p.transfer_id = t.id
            WHERE t.id = original OR t.reverses_id = original
            GROUP BY p.account_id
        ) account
        WHERE remains NOT BETWEEN least(moved, 0) AND greatest(moved, 0)
    ) THEN
        RAISE EXCEPTION 'reversals of transfer % exceed it', original USING ERRCODE = 'BA005';
    END IF;
END $$;

-- The balance of any account, this moment's.
CREATE FUNCTION ledger_balance(account bigint) RETURNS numeric
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT a.balance + CASE WHEN ledger_is_system(a.kind) THEN coalesce((
        SELECT sum(p.amount) FROM wallets_posting p
        WHERE p.account_id = a.id AND p.version IS NULL AND p.xid >= a.rolled_up_to
    ), 0) ELSE 0 END
    FROM wallets_account a WHERE a.id = account
$$;

-- Adds to each system account's balance the postings whose transactions are over for certain.
-- Safe at any time and in any number: what it does not take now, the next one takes.
CREATE FUNCTION ledger_roll_up() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    horizon xid8 := pg_snapshot_xmin(pg_current_snapshot());
BEGIN
    UPDATE wallets_account a
    SET balance = a.balance + coalesce((
            SELECT sum(p.amount) FROM wallets_posting p
            WHERE p.account_id = a.id AND p.version IS NULL
              AND p.xid >= a.rolled_up_to AND p.xid < horizon
        ), 0),
        rolled_up_to = horizon
    WHERE ledger_is_system(a.kind) AND a.rolled_up_to < horizon;
END $$;

-- Seen at commit, whoever wrote the rows and in whatever order: a transfer's legs sum to zero in
-- each asset, both references exist, and each posting follows the one before it on its account.
CREATE FUNCTION ledger_check_posting() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    touched bigint[] := CASE TG_OP
        WHEN 'INSERT' THEN ARRAY[NEW.transfer_id]
        WHEN 'DELETE' THEN ARRAY[OLD.transfer_id]
        ELSE ARRAY[OLD.transfer_id, NEW.transfer_id] END;
    account record;
    kind text;
BEGIN
    IF EXISTS (
        SELECT FROM wallets_posting p LEFT JOIN wallets_account a ON a.id = p.account_id
        WHERE p.transfer_id = ANY (touched)
        GROUP BY p.transfer_id, a.asset_id
        HAVING sum(p.amount) <> 0 OR a.asset_id IS NULL
    ) THEN
        RAISE EXCEPTION 'transfer % does not sum to zero', touched USING ERRCODE = 'BA003';
    END IF;
    IF TG_OP = 'DELETE' THEN
        RETURN NULL;
    END IF;

    SELECT t.kind INTO kind FROM wallets_transfer t WHERE t.id = NEW.transfer_id;
    SELECT a.version, a.balance, ledger_is_system(a.kind) AS is_system INTO account
    FROM wallets_account a WHERE a.id = NEW.account_id;
    IF kind IS NULL
        OR account.is_system IS DISTINCT FROM (NEW.version IS NULL)
        OR NEW.version > account.version
        OR (NEW.version = account.version AND NEW.balance <> account.balance)
        OR (NEW.balance < 0 AND NEW.amount < 0 AND kind <> 'deposit_reversal')
        OR NEW.previous_balance <> coalesce((
            SELECT p.balance FROM wallets_posting p
            WHERE p.account_id = NEW.account_id AND p.version = NEW.version - 1), 0)
        OR (NEW.version > 1 AND NOT EXISTS (
            SELECT FROM wallets_posting p
            WHERE p.account_id = NEW.account_id AND p.version = NEW.version - 1))
    THEN
        RAISE EXCEPTION 'posting % does not follow from what is there', NEW.id
            USING ERRCODE = 'BA003';
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER ledger_check_posting
    AFTER INSERT OR UPDATE OR DELETE ON wallets_posting DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION ledger_check_posting();

-- A kept account's balance is the one that its newest posting left.
CREATE FUNCTION ledger_check_account() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF EXISTS (
        SELECT FROM wallets_account a
        LEFT JOIN wallets_posting p ON p.account_id = a.id AND p.version = a.version
        WHERE a.id = NEW.id AND NOT ledger_is_system(a.kind)
          AND (a.version, a.balance) <> (0, 0) AND a.balance IS DISTINCT FROM p.balance
    ) THEN
        RAISE EXCEPTION 'the balance of % is not what its postings add up to', NEW.key
            USING ERRCODE = 'BA003';
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER ledger_check_account
    AFTER INSERT OR UPDATE OF balance, version ON wallets_account
    DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION ledger_check_account();

-- What is written stays as it is.
CREATE FUNCTION ledger_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% on % is refused: what is in the ledger stays; reverse it instead',
        TG_OP, TG_TABLE_NAME USING ERRCODE = 'BA004';
END $$;
CREATE TRIGGER ledger_refuse_change BEFORE UPDATE OR DELETE ON wallets_posting
    FOR EACH ROW EXECUTE FUNCTION ledger_refuse();
CREATE TRIGGER ledger_refuse_change BEFORE UPDATE OR DELETE ON wallets_transfer
    FOR EACH ROW EXECUTE FUNCTION ledger_refuse();
CREATE TRIGGER ledger_refuse_change
    BEFORE DELETE OR UPDATE OF id, asset_id, kind, key, wallet_id, created_at ON wallets_account
    FOR EACH ROW EXECUTE FUNCTION ledger_refuse();
CREATE TRIGGER ledger_refuse_truncate BEFORE TRUNCATE ON wallets_posting
    EXECUTE FUNCTION ledger_refuse();
CREATE TRIGGER ledger_refuse_truncate BEFORE TRUNCATE ON wallets_transfer
    EXECUTE FUNCTION ledger_refuse();
CREATE TRIGGER ledger_refuse_truncate BEFORE TRUNCATE ON wallets_account
    EXECUTE FUNCTION ledger_refuse();
