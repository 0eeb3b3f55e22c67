-- What calls the functions of ledger.sql; each is explained there.

CREATE TRIGGER ledger_check_postings AFTER INSERT ON wallets_posting
    REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_check_postings();
CREATE CONSTRAINT TRIGGER ledger_check_moved_leg AFTER UPDATE OR DELETE ON wallets_posting
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ledger_check_moved_leg();
CREATE TRIGGER ledger_check_funds AFTER INSERT OR UPDATE ON wallets_posting
    FOR EACH ROW WHEN (NEW.balance < 0 AND NEW.amount < 0)
    EXECUTE FUNCTION ledger_check_funds();
CREATE CONSTRAINT TRIGGER ledger_check_account
    AFTER INSERT OR UPDATE OF balance, version ON wallets_account
    DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION ledger_check_account();
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
