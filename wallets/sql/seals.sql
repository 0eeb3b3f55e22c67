-- A seal that could be changed would prove nothing.
CREATE TRIGGER ledger_refuse_change BEFORE UPDATE OR DELETE ON wallets_seal
    FOR EACH ROW EXECUTE FUNCTION ledger_refuse();
CREATE TRIGGER ledger_refuse_truncate BEFORE TRUNCATE ON wallets_seal
    EXECUTE FUNCTION ledger_refuse();
