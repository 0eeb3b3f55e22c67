"""The console's pages on the chain: its cursor, its nodes and vaults, and what was deposited."""

from datetime import timedelta

from django.contrib import admin
from django.db import models
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html
from unfold.utils import display_for_label
from unfold.widgets import UnfoldAdminIntegerFieldWidget

from contracts.models import Block, Chain, Deposit, Node, Token, Vault
from contracts.rescan_admin import RangeForm
from contracts.rescans import ask_for_rescan
from contracts.selectors import SCANNED_TIMESTAMP
from wallets.admin_actions import HasActions, may, with_reason
from wallets.admin_base import (
    ADDRESS,
    HASH,
    ConsoleAdmin,
    ReadOnlyAdmin,
    ReadOnlyInline,
    amount,
    by_address,
    by_hash,
    by_number,
    cell,
    code,
    grouped,
    in_coins,
    moment,
    plain,
    relate,
    status,
    to,
)
from wallets.models import Transfer, Wallet

DEPOSIT_COLOURS = {
    Deposit.Status.PENDING: "warning",
    Deposit.Status.CREDITED: "success",
    Deposit.Status.WORTHLESS: "info",
    Deposit.Status.ORPHANED: "danger",
}
CHAIN_COLOURS = {"paused": "warning", "in trouble": "danger", "watched": "success"}
NODE_COLOURS = {"resting": "danger", "failing": "warning", "well": "success"}


def chain_status(chain: Chain) -> str:
    """How the watcher fares."""
    return "paused" if chain.paused else "in trouble" if chain.trouble else "watched"


def coins(amount_: int, token: Token) -> str:
    """An amount in whole tokens."""
    whole = in_coins(amount_, token.decimals)
    return format_html('<span class="amount">{} {}</span>', whole, token.symbol)


def coins_and_units(amount_: int, token: Token) -> str:
    """An amount in whole tokens, and beside it in the token's smallest unit."""
    return format_html(
        '{} <span class="amount text-font-subtle-light">= {}</span>',
        coins(amount_, token),
        grouped(amount_),
    )


def _confirmations(deposit: Deposit) -> str:
    chain = deposit.vault.chain
    if deposit.status != Deposit.Status.PENDING:
        return "-"
    if chain.finality != Chain.Finality.CONFIRMATIONS:
        return f"not yet {chain.finality}"
    return f"{max(0, chain.head_block - deposit.block_number + 1)} of {chain.confirmations}"


def _seconds_behind(chain: Chain) -> str | None:
    """The time between the last block that was read and the newest one."""
    if not (chain.head_timestamp and chain.scanned_timestamp):
        return None
    behind = max(timedelta(), chain.head_timestamp - chain.scanned_timestamp)
    return grouped(int(behind.total_seconds()))


@admin.register(Chain)
class ChainAdmin(HasActions, ConsoleAdmin):
    """Chains and how far they have been read. The watcher may be paused, or made more patient."""

    editable = ("finality", "confirmations")
    grants = ("view", "change", "rescan")
    actions_detail = ("pause", "unpause", "rescan")
    # With none, a deposit would count before it is in a block.
    formfield_overrides = {
        models.PositiveIntegerField: {"min_value": 1, "widget": UnfoldAdminIntegerFieldWidget}
    }
    list_display = (
        "name",
        cell(lambda c: display_for_label(chain_status(c), "-", CHAIN_COLOURS), "Watcher"),
        amount("scanned_block", "Scanned to"),
        cell(lambda c: grouped(max(0, c.head_block - c.scanned_block)), "Blocks behind"),
        cell(_seconds_behind, "Seconds behind"),
        amount("pending_deposits", "Pending deposits"),
        amount("reorgs", "Reorgs"),
        moment("scanned_at", "Last scan"),
    )
    fieldsets = (
        (
            "The watcher",
            {
                "fields": (
                    cell(lambda c: display_for_label(chain_status(c), "-", CHAIN_COLOURS), "State"),
                    "trouble",
                    "finality",
                    "confirmations",
                    amount("pending_deposits", "Deposits that don't count yet"),
                )
            },
        ),
        (
            "How far it has read",
            {
                "fields": (
                    amount("scanned_block", "Last scanned block"),
                    code("scanned_hash", "Its hash"),
                    amount("head_block", "Newest block seen"),
                    cell(
                        lambda c: grouped(max(0, c.head_block - c.scanned_block)), "Blocks behind"
                    ),
                    cell(_seconds_behind, "Seconds behind"),
                    cell(
                        lambda c: grouped(c.final_block) if c.final_block >= 0 else None,
                        "Newest final block",
                    ),
                    moment("scanned_at", "Last scan"),
                    amount("block_range", "Blocks asked for at once"),
                    amount("reorgs", "Reorganisations seen"),
                    amount("deepest_reorg", "The deepest, in blocks"),
                )
            },
        ),
        ("The chain", {"fields": ("name", "id", code("genesis_hash", "Hash of its first block"))}),
    )
    nothing_here = "A chain is written here when a vault is deployed on it."

    has_add_permission = ReadOnlyAdmin.has_add_permission
    has_delete_permission = ReadOnlyAdmin.has_delete_permission

    def get_queryset(self, request: HttpRequest) -> QuerySet[Chain]:
        """Chains with what is told of other tables."""
        pending = Deposit.objects.filter(vault__chain=OuterRef("pk"), status="pending")
        counted = pending.order_by().values("vault__chain").annotate(n=Count("pk")).values("n")
        return (
            super()
            .get_queryset(request)
            .annotate(
                scanned_timestamp=SCANNED_TIMESTAMP,
                pending_deposits=Coalesce(Subquery(counted), 0),
            )
        )

    @with_reason(
        "Pause",
        permission="change",
        icon="pause",
        question="Nothing of this chain is read, credited, signed or given back until it goes on. "
        "Nothing is lost meanwhile.",
        possible=lambda chain: not chain.paused,
    )
    def pause(self, *, operator: Wallet, row: Chain, reason: str) -> None:
        """Let the chain be."""
        Chain.objects.filter(pk=row.pk).update(paused=True)

    @with_reason(
        "Go on",
        permission="change",
        icon="play_arrow",
        question="The chain is read on from where it was paused.",
        possible=lambda chain: chain.paused,
    )
    def unpause(self, *, operator: Wallet, row: Chain, reason: str) -> None:
        """Read it again."""
        Chain.objects.filter(pk=row.pk).update(paused=False)

    has_rescan_permission = may("contracts.rescan_chain")

    @with_reason(
        "Read again",
        permission="rescan",
        icon="history",
        question="The watcher reads these blocks again, and stores and credits what it has missed. "
        "What is stored is stored once; the list of rescans says how far it is.",
        form_class=RangeForm,
    )
    def rescan(self, *, operator: Wallet, row: Chain, first: int, last: int, reason: str) -> None:
        """Have a range read again."""
        ask_for_rescan(operator=operator, chain_id=row.pk, first=first, last=last)


def _node_status(node: Node) -> str:
    """How a node does: left alone for a while, failing when last asked, or well."""
    if node.rests_until and node.rests_until > timezone.now():
        return "resting"
    return "failing" if node.failures_in_a_row else "well"


@admin.register(Node)
class NodeAdmin(ReadOnlyAdmin):
    """Nodes, by their place among the chain's RPC URLs: a URL holds a key, and is shown nowhere."""

    linked_by = ("chain",)
    list_select_related = ("chain",)
    list_display = (
        to("chain", "Chain"),
        amount("place", "Place among the URLs"),
        cell(lambda n: display_for_label(_node_status(n), "-", NODE_COLOURS), "Health"),
        plain("last_cause", "Last failed by"),
        moment("failed_at", "Last failed"),
        moment("answered_at", "Last answered"),
    )
    fieldsets = (
        (None, {"fields": list_display}),
        (
            "Failures",
            {
                "fields": (
                    amount("failures_in_a_row", "Failures in a row"),
                    moment("rests_until", "Rests until"),
                    cell(
                        lambda n: " · ".join(f"{k} {grouped(v)}" for k, v in n.failures.items()),
                        "How many by each cause",
                    ),
                )
            },
        ),
    )
    nothing_here = "A node is written here when it is first asked."


class TokenInline(ReadOnlyInline):
    """What a vault takes."""

    model = Token
    ordering = ("pk",)
    related = ("vault",)
    show_change_link = True
    fields = (
        "symbol",
        code("address", "Address"),
        "decimals",
        cell(lambda token: coins_and_units(token.credit_price, token), "Price of a credit"),
    )


@admin.register(Vault)
class VaultAdmin(ReadOnlyAdmin):
    """Deployed vaults."""

    searches = (by_address("address"),)
    list_filter = ("current",)
    linked_by = ("chain",)
    list_select_related = ("chain",)
    list_display = (
        code("address", "Address"),
        to("chain", "Chain"),
        amount("deployed_block", "Deployed in block"),
        "current",
    )
    fieldsets = ((None, {"fields": list_display}),)
    inlines = (TokenInline,)
    nothing_here = "A vault is written here when it is deployed."


@admin.register(Token)
class TokenAdmin(ReadOnlyAdmin):
    """Coins that vaults take."""

    searches = (by_address("address"),)
    linked_by = ("vault",)
    list_select_related = ("vault",)
    list_display = (
        "symbol",
        code("address", "Address", keep=ADDRESS),
        to("vault", "Vault", keep=ADDRESS),
        "decimals",
        cell(lambda token: coins_and_units(token.credit_price, token), "Price of a credit"),
    )
    fieldsets = (
        (
            None,
            {
                "fields": (
                    "symbol",
                    code("address", "Address"),
                    to("vault", "Vault"),
                    "decimals",
                    cell(
                        lambda token: coins_and_units(token.credit_price, token),
                        "Price of a credit",
                    ),
                )
            },
        ),
    )


@admin.register(Block)
class BlockAdmin(ReadOnlyAdmin):
    """Blocks that the watcher remembers."""

    # Numbers are unique on a chain: with the chains named, the index serves.
    searches = (by_number("number", "block number", chain__in=Chain.objects.values("pk")),)
    linked_by = ("chain",)
    list_select_related = ("chain",)
    list_display = (
        amount("number", "Block"),
        code("hash", "Hash"),
        to("chain", "Chain"),
        moment("timestamp", "Mined"),
    )
    fieldsets = ((None, {"fields": list_display}),)
    nothing_here = "The watcher remembers the last block of each scan."


@admin.register(Deposit)
class DepositAdmin(ReadOnlyAdmin):
    """What players paid into the vaults."""

    searches = (by_hash("tx_hash"), by_address("wallet__address"))
    list_filter = ("status", "token")
    linked_by = ("wallet", "vault", "transfer")
    list_select_related = ("wallet", "token", "vault__chain", "transfer")
    list_display = (
        amount("number", "No."),
        status("status", "Status", DEPOSIT_COLOURS),
        to("wallet", "Wallet", keep=ADDRESS),
        amount("credits", "Credits"),
        cell(lambda deposit: coins(deposit.amount, deposit.token), "Paid"),
        code("tx_hash", "Transaction", keep=HASH),
        cell(_confirmations, "Confirmed by"),
        moment("seen_at", "Seen"),
    )
    fieldsets = (
        (
            None,
            {
                "fields": (
                    status("status", "Status", DEPOSIT_COLOURS),
                    cell(_confirmations, "Confirmations"),
                    to("wallet", "Wallet"),
                    amount("credits", "Credits"),
                    cell(lambda deposit: coins_and_units(deposit.amount, deposit.token), "Paid"),
                    to("transfer", "Transfer"),
                    moment("seen_at", "Seen"),
                    moment("credited_at", "Credited"),
                )
            },
        ),
        (
            "On the chain",
            {
                "fields": (
                    to("vault", "Vault"),
                    amount("number", "The vault's number for it"),
                    code("tx_hash", "Transaction"),
                    amount("log_index", "Log index"),
                    amount("block_number", "Block"),
                    code("block_hash", "Hash of the block"),
                )
            },
        ),
    )
    nothing_here = "The watcher writes down each deposit that it sees on the chain."


relate(Wallet, Deposit, lambda w: not w.is_staff and {"wallet__id__exact": w.pk}, icon="download")
relate(
    Transfer,
    Deposit,
    lambda t: t.kind == Transfer.Kind.DEPOSIT and {"transfer__id__exact": t.pk},
    icon="download",
)
relate(Chain, Node, lambda chain: {"chain__id__exact": chain.pk}, icon="dns")
relate(Chain, Vault, lambda chain: {"chain__id__exact": chain.pk}, icon="account_balance")
relate(Chain, Block, lambda chain: {"chain__id__exact": chain.pk}, icon="deployed_code")
relate(Vault, Deposit, lambda vault: {"vault__id__exact": vault.pk}, icon="download")

# Registers its pages too; a module of its own for its length.
import contracts.withdrawal_admin  # noqa: E402, F401
