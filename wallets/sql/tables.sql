-- How far the balance that a system account carries has summed its postings, by posting id. Django
-- has no use for it.
ALTER TABLE wallets_account ADD COLUMN rolled_up_to bigint NOT NULL DEFAULT 0;
CREATE INDEX posting_to_roll_up ON wallets_posting (account_id, id) INCLUDE (amount)
    WHERE version IS NULL;
-- An account is rewritten with each posting: room on its page keeps that out of the indexes.
ALTER TABLE wallets_account SET (fillfactor = 50);
