"""The matches' part of the audit."""

from wallets.audit import sql_check

CHECKS = (
    sql_check(
        "The escrow of each match holds its players' stakes, and nothing once it has ended",
        """
        SELECT m.id AS match, m.status, coalesce(a.balance, 0) AS escrow,
               sum(s.staked) AS staked, m.stake * count(s.id) AS expected
        FROM matches_match m
        JOIN matches_seat s ON s.match_id = m.id
        LEFT JOIN wallets_account a ON a.key = 'match:' || m.id AND a.asset_id = 'credits'
        WHERE m.ended_at IS NULL OR m.ended_at > %(moment)s
        GROUP BY m.id, a.balance
        HAVING coalesce(a.balance, 0) <> sum(s.staked)
            OR sum(s.staked) <> CASE WHEN m.status IN ('open', 'running')
                                     THEN m.stake * count(s.id) ELSE 0 END
        ORDER BY m.id
        """,
    ),
    sql_check(
        "Every escrow belongs to a match",
        """
        SELECT a.id AS account, a.key, a.balance
        FROM wallets_account a
        LEFT JOIN matches_match m ON a.key = 'match:' || m.id
        WHERE a.kind = 'escrow' AND a.created_at > %(moment)s AND m.id IS NULL
        ORDER BY a.id
        """,
    ),
    sql_check(
        "Every match for a stake that has ended was settled once, by the pot; practice never",
        """
        SELECT m.id AS match, m.status, t.kind, released.credits,
               m.stake * (SELECT count(*) FROM matches_seat s WHERE s.match_id = m.id) AS pot
        FROM matches_match m
        LEFT JOIN wallets_transfer t ON t.key = 'release:' || m.id
        LEFT JOIN LATERAL (
            SELECT sum(p.amount) AS credits FROM wallets_posting p
            WHERE p.transfer_id = t.id AND p.amount > 0
        ) released ON true
        WHERE (m.ended_at IS NULL OR m.ended_at > %(moment)s)
          AND ((m.status IN ('open', 'running') OR m.stake = 0) <> (t.id IS NULL)
               OR released.credits <>
                  m.stake * (SELECT count(*) FROM matches_seat s WHERE s.match_id = m.id)
               OR t.kind <> CASE m.status WHEN 'won' THEN 'payout' ELSE 'refund' END)
        ORDER BY m.id
        """,
    ),
)
