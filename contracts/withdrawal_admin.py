"""The console's pages on the way out: withdrawals, and what the chain says became of them."""

from django.contrib import admin

from contracts.admin import coins, coins_and_units
from contracts.models import Redemption, Vault, Withdrawal
from contracts.redemptions import explain_redemption
from contracts.withdrawals import approve_withdrawal, reject_withdrawal
from wallets.admin_actions import HasActions, may, with_reason
from wallets.admin_base import (
    ADDRESS,
    HASH,
    ReadOnlyAdmin,
    amount,
    by_address,
    by_hash,
    by_number,
    cell,
    code,
    moment,
    plain,
    relate,
    status,
    to,
)
from wallets.models import Transfer, Wallet

Status = Withdrawal.Status
WITHDRAWAL_COLOURS = {
    Status.REQUESTED: "danger",
    Status.APPROVED: "warning",
    Status.SIGNED: "info",
    Status.REDEEMED: "primary",
    Status.PAID: "success",
}
REDEMPTION_COLOURS = {
    Redemption.Status.PENDING: "warning",
    Redemption.Status.CONFIRMED: "success",
    Redemption.Status.ORPHANED: "danger",
}


@admin.register(Withdrawal)
class WithdrawalAdmin(HasActions, ReadOnlyAdmin):
    """Credits on their way out. An operator decides on those above the threshold."""

    searches = (by_address("wallet__address"), by_number("pk", "number"))
    list_filter = ("status", "token")
    linked_by = ("wallet",)
    list_select_related = ("wallet", "token", "decided_by")
    grants = ("view", "decide")
    actions_detail = ("approve", "reject")
    list_display = (
        amount("pk", "No."),
        status("status", "Status", WITHDRAWAL_COLOURS),
        to("wallet", "Wallet", keep=ADDRESS),
        amount("credits", "Credits"),
        cell(lambda w: coins(w.amount, w.token), "To be paid"),
        cell(lambda w: w.get_hold_display() if w.hold else None, "Waits for"),
        to("decided_by", "Decided by"),
        moment("requested_at", "Requested"),
    )
    fieldsets = (
        (
            None,
            {
                "fields": (
                    status("status", "Status", WITHDRAWAL_COLOURS),
                    cell(lambda w: w.get_hold_display() if w.hold else None, "Waits for"),
                    to("wallet", "Wallet"),
                    amount("credits", "Credits"),
                    cell(lambda w: coins_and_units(w.amount, w.token), "To be paid"),
                    moment("requested_at", "Requested"),
                    to("decided_by", "Decided by"),
                    moment("decided_at", "Decided"),
                    moment("ended_at", "Ended"),
                )
            },
        ),
        (
            "The voucher",
            {
                "fields": (
                    to("token.vault", "Vault"),
                    code("voucher", "Its id"),
                    code("signer", "Signed by"),
                    moment("signed_at", "Signed"),
                    moment("tried_at", "Last looked at by the signer"),
                    moment("expires_at", "Good until"),
                )
            },
        ),
    )
    nothing_here = "A player asks for one by the API or on the site."

    has_decide_permission = may("contracts.decide_withdrawal")

    @with_reason(
        "Approve",
        permission="decide",
        icon="check",
        question="The signer will sign the voucher. A signed one can't be taken back.",
        possible=lambda withdrawal: (
            withdrawal.status == Status.REQUESTED or withdrawal.hold == Withdrawal.Hold.APPROVAL
        ),
    )
    def approve(self, *, operator: Wallet, row: Withdrawal, reason: str) -> None:
        """Let the signer sign it."""
        approve_withdrawal(operator=operator, withdrawal_id=row.pk)

    @with_reason(
        "Reject",
        permission="decide",
        icon="block",
        question="The credits go back to the player at once.",
        possible=lambda withdrawal: Status.REJECTED in Withdrawal.MOVES[withdrawal.status],
    )
    def reject(self, *, operator: Wallet, row: Withdrawal, reason: str) -> None:
        """Turn it down; its credits go back."""
        reject_withdrawal(operator=operator, withdrawal_id=row.pk)


@admin.register(Redemption)
class RedemptionAdmin(HasActions, ReadOnlyAdmin):
    """What left the vaults. One that should not have been waits for an operator's explanation."""

    searches = (by_hash("tx_hash"), by_address("player"))
    list_filter = ("status",)
    linked_by = ("withdrawal", "vault", "transfer")
    list_select_related = ("withdrawal", "vault", "transfer", "explained_by")
    grants = ("view", "explain")
    actions_detail = ("explain",)
    list_display = (
        amount("pk", "No."),
        status("status", "Status", REDEMPTION_COLOURS),
        to("withdrawal", "Withdrawal"),
        code("player", "Paid to", keep=ADDRESS),
        amount("amount", "Amount"),
        code("tx_hash", "Transaction", keep=HASH),
        plain("trouble", "Trouble"),
        moment("seen_at", "Seen"),
    )
    fieldsets = (
        (
            None,
            {
                "fields": (
                    status("status", "Status", REDEMPTION_COLOURS),
                    to("withdrawal", "Withdrawal"),
                    code("player", "Paid to"),
                    code("token", "Coin"),
                    amount("amount", "Amount, in the coin's smallest unit"),
                    to("transfer", "Transfer"),
                    moment("seen_at", "Seen"),
                )
            },
        ),
        (
            "Why it should not have been",
            {
                "fields": (
                    plain("trouble", "Trouble"),
                    plain("explanation", "Explanation"),
                    to("explained_by", "Explained by"),
                )
            },
        ),
        (
            "On the chain",
            {
                "fields": (
                    to("vault", "Vault"),
                    code("voucher", "The voucher's id"),
                    code("tx_hash", "Transaction"),
                    amount("log_index", "Log index"),
                    amount("block_number", "Block"),
                    code("block_hash", "Hash of the block"),
                )
            },
        ),
    )
    nothing_here = "The watcher writes down each voucher that is redeemed."

    has_explain_permission = may("contracts.explain_redemption")

    @with_reason(
        "Explain",
        permission="explain",
        icon="edit_note",
        question="Coins have left the vault for no reason that the books know. "
        "Once it is explained, it is no trouble of the chain's any more. The player was frozen and "
        "stays so: thaw the wallet when its credits are right again.",
        possible=lambda redemption: redemption.trouble and not redemption.explanation,
    )
    def explain(self, *, operator: Wallet, row: Redemption, reason: str) -> None:
        """Write down why something left that should not have."""
        explain_redemption(operator=operator, redemption_id=row.pk, explanation=reason)


relate(Wallet, Withdrawal, lambda w: not w.is_staff and {"wallet__id__exact": w.pk}, icon="upload")
relate(Wallet, Redemption, lambda w: w.address and {"q": w.address}, icon="receipt_long")
relate(Withdrawal, Redemption, lambda w: {"withdrawal__id__exact": w.pk}, icon="receipt_long")
relate(Withdrawal, Transfer, lambda w: {"q": f"withdrawal:{w.pk}"}, icon="swap_horiz")
relate(Vault, Redemption, lambda vault: {"vault__id__exact": vault.pk}, icon="upload")
relate(
    Transfer,
    Redemption,
    lambda t: t.kind == Transfer.Kind.WITHDRAWAL_PAID and {"transfer__id__exact": t.pk},
    icon="upload",
)
