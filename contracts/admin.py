"""The console's pages on the chain: its cursor, its vaults, and what was deposited."""

from django.contrib import admin
from django.db import models
from django.utils.html import format_html
from unfold.utils import display_for_label
from unfold.widgets import UnfoldAdminIntegerFieldWidget

from contracts.models import Block, Chain, Deposit, Token, Vault
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


def chain_status(chain: Chain) -> str:
    """How the watcher fares."""
    return "paused" if chain.paused else "in trouble" if chain.trouble else "watched"


def _coins(amount_: int, token: Token) -> str:
    """An amount in whole tokens."""
    coins = in_coins(amount_, token.decimals)
    return format_html('<span class="amount">{} {}</span>', coins, token.symbol)


def _coins_and_units(amount_: int, token: Token) -> str:
    """An amount in whole tokens, and beside it in the token's smallest unit."""
    return format_html(
        '{} <span class="amount text-font-subtle-light">= {}</span>',
        _coins(amount_, token),
        grouped(amount_),
    )


def _confirmations(deposit: Deposit) -> str:
    chain = deposit.vault.chain
    if deposit.status != Deposit.Status.PENDING:
        return "-"
    if chain.finality != Chain.Finality.CONFIRMATIONS:
        return f"not yet {chain.finality}"
    return f"{max(0, chain.head_block - deposit.block_number + 1)} of {chain.confirmations}"


@admin.register(Chain)
class ChainAdmin(ConsoleAdmin):
    """Chains and how far they have been read. The watcher may be paused, or made more patient."""

    editable = ("paused", "confirmations")
    grants = ("view", "change")
    # With none, a deposit would count before it is in a block.
    formfield_overrides = {
        models.PositiveIntegerField: {"min_value": 1, "widget": UnfoldAdminIntegerFieldWidget}
    }
    list_display = (
        "name",
        cell(lambda c: display_for_label(chain_status(c), "-", CHAIN_COLOURS), "Watcher"),
        amount("scanned_block", "Scanned to"),
        amount("head_block", "Newest block"),
        cell(lambda c: grouped(max(0, c.head_block - c.scanned_block)), "Blocks behind"),
        "confirmations",
        moment("scanned_at", "Last scan"),
    )
    fieldsets = (
        (
            "The watcher",
            {
                "fields": (
                    cell(lambda c: display_for_label(chain_status(c), "-", CHAIN_COLOURS), "State"),
                    "trouble",
                    "paused",
                    "finality",
                    "confirmations",
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
                    moment("scanned_at", "Last scan"),
                    amount("block_range", "Blocks asked for at once"),
                )
            },
        ),
        ("The chain", {"fields": ("name", "id", code("genesis_hash", "Hash of its first block"))}),
    )
    nothing_here = "A chain is written here when a vault is deployed on it."

    has_add_permission = ReadOnlyAdmin.has_add_permission
    has_delete_permission = ReadOnlyAdmin.has_delete_permission


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
        cell(lambda token: _coins_and_units(token.credit_price, token), "Price of a credit"),
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
        cell(lambda token: _coins_and_units(token.credit_price, token), "Price of a credit"),
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
                        lambda token: _coins_and_units(token.credit_price, token),
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
        cell(lambda deposit: _coins(deposit.amount, deposit.token), "Paid"),
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
                    cell(lambda deposit: _coins_and_units(deposit.amount, deposit.token), "Paid"),
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
relate(Chain, Vault, lambda chain: {"chain__id__exact": chain.pk}, icon="account_balance")
relate(Chain, Block, lambda chain: {"chain__id__exact": chain.pk}, icon="deployed_code")
relate(Vault, Deposit, lambda vault: {"vault__id__exact": vault.pk}, icon="download")
