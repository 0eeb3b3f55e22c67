-- The ledger's write path and the truths that Postgres holds by itself.
--
-- Errors, told apart by SQLSTATE:
--   BA001 an account would go below zero        BA002 the key stands for another transfer
--   BA003 not a valid transfer                  BA004 ledger rows are never changed
--   BA005 reversals exceed what they reverse

-- How far the balance that a system account carries has summed its postings, by posting id. Django
-- has no use for it.
ALTER TABLE wallets_account ADD COLUMN rolled_up_to bigint NOT NULL DEFAULT 0;
CREATE INDEX posting_to_roll_up ON wallets_posting (account_id, id) INCLUDE (amount)
    WHERE version IS NULL;
-- An account is rewritten with each posting: room on its page keeps that out of the indexes.
ALTER TABLE wallets_account SET (fillfactor = 50);

CREATE FUNCTION ledger_is_system(kind text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT kind IN ('vault', 'fees', 'house') $$;

-- Posts transfers, all or none, in one round trip. The first four arrays describe a transfer at each
-- place; the last three its legs, grouped by transfer and in order: the place of the transfer, the
-- account, and what that gains or (below zero) gives. Returns a row for each transfer, in order;
-- `replayed` where an earlier call had posted it.
--
-- A loop of plain statements, because their plans are made once for a session: as one statement over
-- the whole arrays, a transfer of two legs takes twice as long.
CREATE FUNCTION ledger_post(
    keys text[], kinds text[], memos text[], reverses bigint[],
    leg_transfers int[], leg_accounts bigint[], leg_amounts numeric[]
) RETURNS TABLE (transfer_id bigint, replayed boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    leg int := 1;
    first_leg int;
    new_version bigint;
    new_balance numeric;
    total numeric;
    written timestamptz;
BEGIN
    -- Every lock that this call needs, in one order, so that no two calls wait for each other.
    IF array_remove(reverses, NULL) <> '{}' THEN
        PERFORM FROM wallets_transfer t
        WHERE t.id = ANY (reverses) ORDER BY t.id FOR NO KEY UPDATE;
    END IF;
    PERFORM FROM wallets_account a
    WHERE a.id = ANY (leg_accounts) AND NOT ledger_is_system(a.kind)
    ORDER BY a.id FOR NO KEY UPDATE;
    -- Read while the locks are held, so that along an account time never runs backwards.
    written := clock_timestamp();

    FOR place IN 1 .. cardinality(keys) LOOP
        INSERT INTO wallets_transfer (key, kind, memo, reverses_id, created_at)
        VALUES (keys[place], kinds[place], memos[place], reverses[place], written)
        ON CONFLICT (key) DO NOTHING
        RETURNING id INTO transfer_id;
        replayed := transfer_id IS NULL;

        first_leg := leg;
        total := 0;
        WHILE leg_transfers[leg] = place LOOP
            IF NOT replayed THEN
                UPDATE wallets_account a
                SET balance = a.balance + leg_amounts[leg], version = a.version + 1
                WHERE a.id = leg_accounts[leg] AND NOT ledger_is_system(a.kind)
                RETURNING a.version, a.balance INTO new_version, new_balance;
                INSERT INTO wallets_posting
                    (transfer_id, account_id, amount, version, previous_balance, balance)
                VALUES (ledger_post.transfer_id, leg_accounts[leg], leg_amounts[leg],
                        new_version, new_balance - leg_amounts[leg], new_balance);
            END IF;
            total := total + leg_amounts[leg];
            leg := leg + 1;
        END LOOP;

        IF leg = first_leg OR total <> 0 THEN
            RAISE EXCEPTION 'transfer % has no legs, or they do not sum to zero', keys[place]
                USING ERRCODE = 'BA003';
        ELSIF replayed THEN
            transfer_id := ledger_posted_before(
                keys[place], kinds[place], memos[place], reverses[place],
                leg_accounts[first_leg : leg - 1], leg_amounts[first_leg : leg - 1]);
        ELSIF reverses[place] IS NOT NULL THEN
            PERFORM ledger_check_reversal(transfer_id, reverses[place]);
        END IF;
        RETURN NEXT;
    END LOOP;
    IF leg <= cardinality(leg_transfers) THEN
        RAISE EXCEPTION 'leg % belongs to no transfer', leg USING ERRCODE = 'BA003';
    END IF;
END $$;

-- The transfer that was posted under this key, if it is the same in every respect.
CREATE FUNCTION ledger_posted_before(
    cause text, kind text, memo text, reverses bigint, accounts bigint[], amounts numeric[]
) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    posted wallets_transfer%ROWTYPE;
BEGIN
    SELECT * INTO STRICT posted FROM wallets_transfer t WHERE t.key = cause;
    IF (posted.kind, posted.memo, posted.reverses_id) IS DISTINCT FROM (kind, memo, reverses)
        OR (accounts, amounts) IS DISTINCT FROM (
            SELECT (array_agg(p.account_id ORDER BY p.id), array_agg(p.amount ORDER BY p.id))
            FROM wallets_posting p WHERE p.transfer_id = posted.id)
    THEN
        RAISE EXCEPTION 'key % was posted before with other content', cause
            USING ERRCODE = 'BA002';
    END IF;
    RETURN posted.id;
END $$;

-- A reversal takes back, account by account, and all reversals of a transfer together at most what it
-- moved.
CREATE FUNCTION ledger_check_reversal(reversal bigint, original bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF EXISTS (
        SELECT FROM (
            SELECT sum(p.amount) FILTER (WHERE t.id = original) AS moved,
                   sum(p.amount) FILTER (WHERE t.id = reversal) AS taken_back,
                   sum(p.amount) AS remains
            FROM wallets_transfer t JOIN wallets_posting p ON p.transfer_id = t.id
            WHERE t.id = original OR t.reverses_id = original
            GROUP BY p.account_id
        ) account
        WHERE sign(taken_back) IS DISTINCT FROM -sign(moved) AND taken_back IS NOT NULL
           OR sign(remains) NOT IN (0, sign(moved))
    ) THEN
        RAISE EXCEPTION 'transfer % can not take back so much of transfer %', reversal, original
            USING ERRCODE = 'BA005';
    END IF;
END $$;

-- The balance of any account, this moment's.
CREATE FUNCTION ledger_balance(account bigint) RETURNS numeric
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT a.balance + CASE WHEN ledger_is_system(a.kind) THEN coalesce((
        SELECT sum(p.amount) FROM wallets_posting p
        WHERE p.account_id = a.id AND p.version IS NULL AND p.id > a.rolled_up_to
    ), 0) ELSE 0 END
    FROM wallets_account a WHERE a.id = account
$$;

-- Adds to each system account's balance its postings up to and including one of which it is certain
-- that no posting with a smaller id is still to be committed (wallets/ledger_upkeep.py).
CREATE FUNCTION ledger_roll_up(upto bigint) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    UPDATE wallets_account a
    SET balance = a.balance + coalesce((
            SELECT sum(p.amount) FROM wallets_posting p
            WHERE p.account_id = a.id AND p.version IS NULL
              AND p.id > a.rolled_up_to AND p.id <= upto
        ), 0),
        rolled_up_to = upto
    WHERE ledger_is_system(a.kind) AND a.rolled_up_to < upto
$$;

-- The checks below run for whoever wrote the rows, as that role. They name the schema of each table,
-- so that a temporary table of the same name fools none of them.

-- Seen at commit, in whatever order the rows were written: a transfer's legs sum to zero in each
-- asset, what a posting refers to exists, and it follows the one before it on its account.
CREATE FUNCTION ledger_check_posting() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        PERFORM public.ledger_check_sum(OLD.transfer_id);
    END IF;
    IF TG_OP = 'DELETE' THEN
        RETURN NULL;
    END IF;
    PERFORM public.ledger_check_sum(NEW.transfer_id);
    IF NOT EXISTS (
        SELECT FROM public.wallets_transfer t, public.wallets_account a
        LEFT JOIN public.wallets_posting previous
            ON previous.account_id = a.id AND previous.version = NEW.version - 1
        WHERE t.id = NEW.transfer_id AND a.id = NEW.account_id
          AND public.ledger_is_system(a.kind) = (NEW.version IS NULL)
          AND (NEW.version IS NULL
               OR NEW.version < a.version
               OR (NEW.version = a.version AND NEW.balance = a.balance))
          AND (NEW.version IS NULL
               OR NEW.previous_balance = CASE NEW.version WHEN 1 THEN 0 ELSE previous.balance END)
    ) THEN
        RAISE EXCEPTION 'posting % does not follow from what is there', NEW.id
            USING ERRCODE = 'BA003';
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION ledger_check_sum(transfer bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM public.wallets_posting p
        LEFT JOIN public.wallets_account a ON a.id = p.account_id
        WHERE p.transfer_id = transfer
        GROUP BY a.asset_id
        HAVING sum(p.amount) <> 0
    ) THEN
        RAISE EXCEPTION 'transfer % does not sum to zero', transfer USING ERRCODE = 'BA003';
    END IF;
END $$;

CREATE CONSTRAINT TRIGGER ledger_check_posting
    AFTER INSERT OR UPDATE OR DELETE ON wallets_posting DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION ledger_check_posting();

-- Below zero goes only a player, by the reversal of a deposit that the chain took back. Seen at once,
-- not at commit, so that whoever asks for too much is told so.
CREATE FUNCTION ledger_check_funds() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM public.wallets_transfer t
        JOIN public.wallets_transfer deposit ON deposit.id = t.reverses_id
        JOIN public.wallets_account a ON a.id = NEW.account_id
        WHERE t.id = NEW.transfer_id AND t.kind = 'deposit_reversal'
          AND deposit.kind = 'deposit' AND a.kind = 'available'
    ) THEN
        RAISE EXCEPTION 'account % has %, % asked',
            NEW.account_id, NEW.previous_balance, -NEW.amount USING ERRCODE = 'BA001';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER ledger_check_funds AFTER INSERT OR UPDATE ON wallets_posting
    FOR EACH ROW WHEN (NEW.balance < 0 AND NEW.amount < 0)
    EXECUTE FUNCTION ledger_check_funds();

-- A kept account moves by one posting at a time, and its balance is the one that this posting left.
CREATE FUNCTION ledger_check_account() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT public.ledger_is_system(NEW.kind) AND (
        (TG_OP = 'UPDATE' AND NEW.version <> OLD.version + 1)
        OR ((NEW.version, NEW.balance) <> (0, 0) AND NOT EXISTS (
            SELECT FROM public.wallets_posting p
            WHERE p.account_id = NEW.id AND p.version = NEW.version AND p.balance = NEW.balance
        ))
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
