-- The ledger's write path and the truths that Postgres holds by itself.
--
-- Errors, told apart by SQLSTATE:
--   BA001 an account would go below zero        BA002 the key stands for another transfer
--   BA003 not a valid transfer                  BA004 ledger rows are never changed
--   BA005 reversals exceed what they reverse
--
-- Each `migrate` runs this file again, so that the functions are always those of the code. One whose
-- arguments or result change needs a migration that drops it.

CREATE OR REPLACE FUNCTION ledger_is_system(kind text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT kind IN ('vault', 'fees', 'house') $$;

-- Posts transfers, all or none, in one round trip. The first four arrays describe a transfer at each
-- place; the last three its legs, grouped by transfer and in order: the place of the transfer, the
-- account, and what that gains or (below zero) gives. Returns a row for each transfer, in order;
-- `replayed` where an earlier call had posted it.
--
-- One statement for each table, however many transfers: so the checks run once for all. How many
-- elements an array has must not matter to the plans, or each call would be planned anew.
CREATE OR REPLACE FUNCTION ledger_post(
    keys text[], kinds text[], memos text[], reverses bigint[],
    leg_transfers int[], leg_accounts bigint[], leg_amounts numeric[]
) RETURNS TABLE (transfer_id bigint, replayed boolean)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    reversed bigint[] := array_remove(reverses, NULL);
    place int := 0;
    next_place int;
    ids bigint[];
    replays boolean[];
    written timestamptz;
BEGIN
    FOREACH next_place IN ARRAY leg_transfers LOOP
        EXIT WHEN next_place NOT BETWEEN greatest(place, 1) AND place + 1;
        place := next_place;
    END LOOP;
    IF place <> cardinality(keys) OR next_place <> place THEN
        RAISE EXCEPTION 'after transfer %: one without legs, or legs without one', place
            USING ERRCODE = 'BA003';
    END IF;

    -- Every lock that this call needs, in one order, so that no two calls wait for each other.
    IF reversed <> '{}' THEN
        PERFORM FROM wallets_transfer t
        WHERE t.id = ANY (reversed) ORDER BY t.id FOR NO KEY UPDATE;
    END IF;
    PERFORM FROM wallets_account a
    WHERE a.id = ANY (leg_accounts) AND NOT ledger_is_system(a.kind)
    ORDER BY a.id FOR NO KEY UPDATE;
    -- Read while the locks are held, so that along an account time never runs backwards.
    written := clock_timestamp();

    WITH draft AS MATERIALIZED (
        SELECT nextval('wallets_transfer_id_seq') AS id, d.*
        FROM unnest(keys, kinds, memos, ledger_post.reverses)
            WITH ORDINALITY AS d (key, kind, memo, original, place)
    ), posted AS (
        INSERT INTO wallets_transfer (id, key, kind, memo, reverses_id, created_at)
        SELECT d.id, d.key, d.kind, d.memo, d.original, written FROM draft d
        ON CONFLICT (key) DO NOTHING
        RETURNING id
    )
    SELECT array_agg(d.id ORDER BY d.place), array_agg(p.id IS NULL ORDER BY d.place)
    INTO ids, replays
    FROM draft d LEFT JOIN posted p ON p.id = d.id;

    UPDATE wallets_account a
    SET balance = a.balance + gain.amount, version = a.version + gain.legs
    FROM (
        SELECT l.account, sum(l.amount) AS amount, count(*) AS legs
        FROM unnest(leg_transfers, leg_accounts, leg_amounts) AS l (place, account, amount)
        WHERE NOT replays[l.place]
        GROUP BY l.account
    ) gain
    WHERE a.id = gain.account AND NOT ledger_is_system(a.kind);

    -- The account has what its last leg left; each leg takes off what those after it moved.
    INSERT INTO wallets_posting
        (transfer_id, account_id, amount, version, previous_balance, balance)
    SELECT ids[leg.place], leg.account, leg.amount, a.version - leg.later,
           a.balance - leg.moved_later - leg.amount, a.balance - leg.moved_later
    FROM (
        SELECT l.*, count(*) OVER so_far - 1 AS later,
               sum(l.amount) OVER so_far - l.amount AS moved_later
        FROM unnest(leg_transfers, leg_accounts, leg_amounts)
            WITH ORDINALITY AS l (place, account, amount, number)
        WHERE NOT replays[l.place]
        WINDOW so_far AS (PARTITION BY l.account ORDER BY l.number DESC)
    ) leg
    LEFT JOIN wallets_account a ON a.id = leg.account AND NOT ledger_is_system(a.kind)
    ORDER BY leg.number;

    IF true = ANY (replays) THEN
        ids := ledger_posted_before(
            keys, kinds, memos, reverses, leg_transfers, leg_accounts, leg_amounts);
    END IF;
    IF reversed <> '{}' THEN
        PERFORM ledger_check_reversal(r.reversal, r.original)
        FROM unnest(ids, reverses) AS r (reversal, original) WHERE r.original IS NOT NULL;
    END IF;
    RETURN QUERY SELECT * FROM unnest(ids, replays);
END $$;

-- The transfers that are posted under these keys, if they are the same in every respect.
CREATE OR REPLACE FUNCTION ledger_posted_before(
    keys text[], kinds text[], memos text[], reverses bigint[],
    leg_transfers int[], leg_accounts bigint[], leg_amounts numeric[]
) RETURNS bigint[]
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    ids bigint[];
    other text;
BEGIN
    SELECT array_agg(t.id ORDER BY d.place),
           min(d.key) FILTER (
               WHERE (d.kind, d.memo, d.original, d.accounts, d.amounts)
                   IS DISTINCT FROM (t.kind, t.memo, t.reverses_id, p.accounts, p.amounts))
    INTO ids, other
    FROM (
        SELECT d.*, array_agg(l.account ORDER BY l.number) AS accounts,
               array_agg(l.amount ORDER BY l.number) AS amounts
        FROM unnest(keys, kinds, memos, ledger_posted_before.reverses)
            WITH ORDINALITY AS d (key, kind, memo, original, place)
        JOIN unnest(leg_transfers, leg_accounts, leg_amounts)
            WITH ORDINALITY AS l (place, account, amount, number) USING (place)
        GROUP BY d.key, d.kind, d.memo, d.original, d.place
    ) d
    JOIN wallets_transfer t ON t.key = d.key
    CROSS JOIN LATERAL (
        SELECT array_agg(p.account_id ORDER BY p.id) AS accounts,
               array_agg(p.amount ORDER BY p.id) AS amounts
        FROM wallets_posting p WHERE p.transfer_id = t.id
    ) p;
    IF other IS NOT NULL THEN
        RAISE EXCEPTION 'key % was posted before with other content', other
            USING ERRCODE = 'BA002';
    END IF;
    RETURN ids;
END $$;

-- A reversal takes back, account by account, and all reversals of a transfer together at most what it
-- moved.
CREATE OR REPLACE FUNCTION ledger_check_reversal(reversal bigint, original bigint) RETURNS void
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
CREATE OR REPLACE FUNCTION ledger_balance(account bigint) RETURNS numeric
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT a.balance + CASE WHEN ledger_is_system(a.kind) THEN coalesce((
        SELECT sum(p.amount) FROM wallets_posting p
        WHERE p.account_id = a.id AND p.version IS NULL AND p.id > a.rolled_up_to
    ), 0) ELSE 0 END
    FROM wallets_account a WHERE a.id = account
$$;

-- The balance of any account at any moment. Along a kept account time never runs backwards, so its
-- last posting up to the moment is found by halving its versions; a system account is summed up,
-- from the last seal before the moment.
CREATE OR REPLACE FUNCTION ledger_balance_at(account bigint, moment timestamptz) RETURNS numeric
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

-- Adds to each system account's balance its postings up to and including one of which it is certain
-- that no posting with a smaller id is still to be committed (wallets/ledger_upkeep.py).
CREATE OR REPLACE FUNCTION ledger_roll_up(upto bigint) RETURNS void
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

-- Seen at the end of each statement that adds postings: the legs of their transfers sum to zero in
-- each asset, what they refer to exists, and each follows the one before it on its account, which
-- has moved already. The lookups are one by one on purpose: a join would be planned for as many rows
-- as the first statement of a session adds, and kept for all others; or, before postings were ever
-- analyzed, for thousands of legs a transfer, by reading all accounts for each.
CREATE OR REPLACE FUNCTION ledger_check_postings() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    wrong bigint;
BEGIN
    SELECT leg.id INTO wrong
    FROM added leg LEFT JOIN LATERAL (
        SELECT * FROM public.wallets_account WHERE id = leg.account_id OFFSET 0
    ) a ON true
    WHERE (
        public.ledger_is_system(a.kind) = (leg.version IS NULL)
        AND (SELECT true FROM public.wallets_transfer t WHERE t.id = leg.transfer_id)
        AND (
            leg.version IS NULL
            OR (leg.version < a.version OR (leg.version = a.version AND leg.balance = a.balance))
            AND leg.previous_balance = CASE leg.version WHEN 1 THEN 0 ELSE (
                SELECT p.balance FROM public.wallets_posting p
                WHERE p.account_id = leg.account_id AND p.version = leg.version - 1
            ) END
        )
        AND 0 = (
            SELECT sum(p.amount) FROM public.wallets_posting p
            WHERE p.transfer_id = leg.transfer_id AND a.asset_id = (
                SELECT asset_id FROM public.wallets_account WHERE id = p.account_id
            )
        )
    ) IS NOT TRUE
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'posting % does not follow from what is there', wrong
            USING ERRCODE = 'BA003';
    END IF;
    RETURN NULL;
END $$;

-- What is there never changes (ledger_refuse). Should that ever be off: a leg that is moved, changed
-- or removed leaves its transfers summing to zero, at the latest at commit.
CREATE OR REPLACE FUNCTION ledger_check_moved_leg() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM public.wallets_posting p
        LEFT JOIN public.wallets_account a ON a.id = p.account_id
        WHERE p.transfer_id IN (OLD.transfer_id, NEW.transfer_id)
        GROUP BY p.transfer_id, a.asset_id
        HAVING sum(p.amount) <> 0
    ) THEN
        RAISE EXCEPTION 'without posting %, its transfer does not sum to zero', OLD.id
            USING ERRCODE = 'BA003';
    END IF;
    RETURN NULL;
END $$;

-- Below zero goes only a player, by the reversal of a deposit that the chain took back. Seen at once,
-- not at commit, so that whoever asks for too much is told so.
CREATE OR REPLACE FUNCTION ledger_check_funds() RETURNS trigger LANGUAGE plpgsql AS $$
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

-- Seen at commit: a kept account moves forward along its postings, and has what the last of them left.
CREATE OR REPLACE FUNCTION ledger_check_account() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT public.ledger_is_system(NEW.kind) AND (
        (TG_OP = 'UPDATE' AND NEW.version <= OLD.version)
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

-- What is written stays as it is.
CREATE OR REPLACE FUNCTION ledger_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% on % is refused: what is in the ledger stays; reverse it instead',
        TG_OP, TG_TABLE_NAME USING ERRCODE = 'BA004';
END $$;
