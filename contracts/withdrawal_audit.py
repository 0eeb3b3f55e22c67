"""The withdrawals' part of the audit. It looks at all of them each time: a reorganisation may reach
back behind any seal."""

from wallets.audit import sql_check

CHECKS = (
    sql_check(
        "The pending account of each withdrawal holds its credits, and nothing once it has ended",
        """
        SELECT w.id AS withdrawal, w.status, w.credits, a.balance AS pending, a.kind,
               a.wallet_id AS pending_of, w.wallet_id AS wallet
        FROM contracts_withdrawal w
        LEFT JOIN wallets_account a ON a.key = 'withdrawal:' || w.id AND a.asset_id = 'credits'
        WHERE (a.kind, a.wallet_id, a.balance) IS DISTINCT FROM ('pending', w.wallet_id,
            CASE WHEN w.status IN ('requested', 'approved', 'signed', 'redeemed')
                 THEN w.credits ELSE 0 END)
        ORDER BY w.id
        """,
    ),
    sql_check(
        "Every pending account belongs to a withdrawal",
        """
        SELECT a.id AS account, a.key, a.balance
        FROM wallets_account a
        LEFT JOIN contracts_withdrawal w ON a.key = 'withdrawal:' || w.id
        WHERE a.kind = 'pending' AND w.id IS NULL
        ORDER BY a.id
        """,
    ),
    sql_check(
        "Every withdrawal is over what its credits are worth",
        """
        SELECT w.id AS withdrawal, w.credits, w.amount, t.credit_price
        FROM contracts_withdrawal w JOIN contracts_token t ON t.id = w.token_id
        WHERE w.amount <> w.credits * t.credit_price
        ORDER BY w.id
        """,
    ),
    sql_check(
        "Exactly the withdrawals that the chain has redeemed are redeemed or paid, in full",
        """
        SELECT w.id AS withdrawal, w.status, r.id AS redemption, r.status AS redemption_status,
               r.trouble
        FROM contracts_withdrawal w
        JOIN contracts_token t ON t.id = w.token_id
        JOIN wallets_wallet p ON p.id = w.wallet_id
        LEFT JOIN contracts_redemption r
            ON r.withdrawal_id = w.id AND r.status <> 'orphaned' AND r.trouble = ''
        WHERE r.status IS DISTINCT FROM
                  CASE w.status WHEN 'redeemed' THEN 'pending' WHEN 'paid' THEN 'confirmed' END
           OR (r.id IS NOT NULL AND (r.vault_id, r.voucher, r.player, r.token, r.amount)
               IS DISTINCT FROM (t.vault_id, w.voucher, p.address, t.address, w.amount))
        ORDER BY w.id
        """,
    ),
    sql_check(
        "Everything that left a vault has a reason, or an operator's explanation",
        """
        SELECT r.id AS redemption, r.voucher, r.player, r.token, r.amount, r.tx_hash, r.trouble
        FROM contracts_redemption r
        WHERE r.status <> 'orphaned' AND r.trouble <> '' AND r.explanation = ''
        ORDER BY r.id
        """,
    ),
    sql_check(
        "Exactly the redemptions that count have left the books, once, in full",
        """
        SELECT r.id AS redemption, r.status, w.credits, t.key AS transfer, p.amount AS paid,
               back.key AS taken_back_by
        FROM contracts_redemption r
        JOIN contracts_withdrawal w ON w.id = r.withdrawal_id
        LEFT JOIN wallets_transfer t ON t.id = r.transfer_id
        LEFT JOIN wallets_transfer back ON back.reverses_id = t.id
        LEFT JOIN wallets_posting p ON p.transfer_id = t.id AND p.amount > 0
        LEFT JOIN wallets_account a ON a.id = p.account_id
        WHERE t.id IS NOT NULL
          AND ((t.kind, p.amount, a.kind)
               IS DISTINCT FROM ('withdrawal_paid', w.credits, 'vault')
               OR (r.status = 'orphaned') <> (back.id IS NOT NULL))
        ORDER BY r.id
        """,
    ),
    sql_check(
        "Every transfer of a withdrawal belongs to one",
        """
        SELECT t.id AS transfer, t.key, t.kind
        FROM wallets_transfer t
        LEFT JOIN contracts_withdrawal w
            ON t.kind IN ('withdrawal', 'withdrawal_return')
            AND w.id::text = split_part(t.key, ':', 2)
            AND (t.kind = 'withdrawal' OR w.status IN ('cancelled', 'rejected', 'returned'))
        LEFT JOIN contracts_redemption r ON r.transfer_id = t.id
        WHERE (t.kind IN ('withdrawal', 'withdrawal_return') AND w.id IS NULL)
           OR (t.kind = 'withdrawal_paid' AND r.id IS NULL)
        ORDER BY t.id
        """,
    ),
)
