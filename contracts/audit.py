"""The chain's part of the audit: credits against deposits, and against what the vaults hold.

It looks at all deposits each time: a reorganisation may reach back behind any seal.
"""

from django.db import connection

from contracts.holdings import held_by
from contracts.models import Chain, Withdrawal
from contracts.node import NODE_ERRORS, WrongChain, connect, reason
from contracts.vouchers import view_uint
from contracts.withdrawal_audit import CHECKS as WITHDRAWAL_CHECKS
from wallets.audit import Check, NotSeen, Since, sql_check


def _vaults_cover_what_is_owed(_since: Since) -> list[str]:
    """Compare each chain's holdings, in credits, with the credits that players are owed.

    What the vaults hold beyond that (value sent to them by other ways than a deposit, deposits yet
    to be confirmed) is a surplus, and no fault. Raises NotSeen if no node tells.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(sum(balance), 0) FROM wallets_account "
            "WHERE balance > 0 AND NOT ledger_is_system(kind) AND asset_id = 'credits'"
        )
        owed = int(cursor.fetchone()[0])
    if not Chain.objects.exists():
        return [f"owed={owed} and there is no vault"] if owed else []
    try:
        held = sum(
            amount // token.credit_price
            for chain in Chain.objects.order_by("pk")
            for token, amount in held_by(chain).items()
        )
        if held < owed:
            owed -= _left_already()
    except (WrongChain, *NODE_ERRORS) as error:
        raise NotSeen(f"The vaults' holdings are not known. {reason(error)}") from error
    return [] if held >= owed else [f"owed={owed} held={held}"]


def _left_already() -> int:
    """Credits whose coins have left a vault, while they wait for the confirmations of that.

    Raises NODE_ERRORS.
    """
    live = Withdrawal.objects.select_related("token__vault")
    redeemed = live.filter(status=Withdrawal.Status.REDEEMED)
    used = (w for w in live.filter(status=Withdrawal.Status.SIGNED) if _is_used(w))
    return sum(w.credits for w in (*redeemed, *used))


def _is_used(withdrawal: Withdrawal) -> bool:
    vault = withdrawal.token.vault
    node = connect(chain_id=vault.chain_id)
    view = "isUsed(uint256)"
    return bool(view_uint(node, vault.address, view, withdrawal.voucher, block="latest"))


CHECKS = (
    sql_check(
        "Every credited deposit was minted once, in full, to its wallet",
        """
        SELECT d.id AS deposit, d.status, d.credits, t.key AS transfer, p.amount AS minted,
               a.wallet_id AS minted_to, d.wallet_id AS wallet
        FROM contracts_deposit d
        LEFT JOIN wallets_transfer t ON t.id = d.transfer_id
        LEFT JOIN wallets_posting p ON p.transfer_id = t.id AND p.amount > 0
        LEFT JOIN wallets_account a ON a.id = p.account_id
        WHERE (d.status = 'credited' AND t.id IS NULL)
           OR (t.id IS NOT NULL AND (t.kind, p.amount, a.wallet_id)
               IS DISTINCT FROM ('deposit', d.credits, d.wallet_id))
        ORDER BY d.id
        """,
    ),
    sql_check(
        "Every mint belongs to one deposit",
        """
        SELECT t.id AS transfer, t.key
        FROM wallets_transfer t LEFT JOIN contracts_deposit d ON d.transfer_id = t.id
        WHERE t.kind = 'deposit' AND d.id IS NULL
        ORDER BY t.id
        """,
    ),
    sql_check(
        "Exactly the deposits that fell out of the chain were taken back",
        """
        SELECT d.id AS deposit, d.status, d.transfer_id AS minted_by, r.key AS taken_back_by
        FROM contracts_deposit d
        LEFT JOIN wallets_transfer r
            ON r.reverses_id = d.transfer_id AND r.kind = 'deposit_reversal'
        WHERE d.transfer_id IS NOT NULL AND (d.status = 'orphaned') <> (r.id IS NOT NULL)
        ORDER BY d.id
        """,
    ),
    sql_check(
        "Credits minted equal confirmed deposits",
        """
        SELECT ledger.minted, deposits.confirmed FROM
            (SELECT coalesce(-sum(p.amount), 0) AS minted
             FROM wallets_posting p JOIN wallets_account a ON a.id = p.account_id
             WHERE a.kind = 'vault' AND a.asset_id = 'credits') ledger,
            (SELECT (SELECT coalesce(sum(credits), 0)
                     FROM contracts_deposit WHERE status = 'credited')
                  - (SELECT coalesce(sum(credits), 0)
                     FROM contracts_withdrawal WHERE status = 'paid') AS confirmed) deposits
        WHERE ledger.minted <> deposits.confirmed
        """,
    ),
    *WITHDRAWAL_CHECKS,
    Check("The vaults on the chain cover all credits owed", _vaults_cover_what_is_owed),
)
