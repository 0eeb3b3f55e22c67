"""Credits leave by the whole stack: approved, signed, redeemed and closed, or given back."""

from collections.abc import Iterator

import httpx
import psutil
import pytest
from eth_account import Account
from eth_account.signers.local import LocalAccount

from bas_site.devstack.processes import recorded
from bas_site.devstack.stack import OPERATOR, Stack
from tests.e2e.helpers import Player, sql, statement, two_more_scans, until, with_credits

from bas_client import ChainError, Node, Voucher, Withdrawal  # isort: skip

pytestmark = pytest.mark.xdist_group("stack")

KEY_SETTINGS = ("WITHDRAWAL_KEYSTORE", "WITHDRAWAL_KEYSTORE_PASSWORD")
VOUCHER_SECONDS = 24 * 3600


@pytest.fixture
def node(stack: Stack) -> Iterator[Node]:
    with Node(stack.env["CHAIN_RPC_URLS"]) as node:
        yield node


def with_gas(node: Node, account: LocalAccount) -> LocalAccount:
    rich = node.rpc("eth_accounts")[0]
    gift = {"from": rich, "to": account.address, "value": hex(10**18)}
    node.wait(node.rpc("eth_sendTransaction", gift))
    return account


def latest(player: Player) -> Withdrawal:
    return next(player.client.withdrawals())


def signed(player: Player) -> Voucher:
    """The voucher of the player's latest withdrawal, as soon as the signer has signed it."""
    until(lambda: latest(player).voucher is not None, "the voucher is signed")
    voucher = latest(player).voucher
    assert voucher is not None
    return voucher


def holders_of_the_key(stack: Stack) -> set[str]:
    """The programs of which a process has been given the key's file or its password."""
    holders = set()
    for record in recorded(stack.root):
        parent = psutil.Process(record["pid"])
        for process in (parent, *parent.children(recursive=True)):
            if any(process.environ().get(name) for name in KEY_SETTINGS):
                holders.add(record["name"])
    return holders


def test_the_signers_process_alone_holds_the_key(stack: Stack):
    names = {record["name"] for record in recorded(stack.root)}
    assert {"web", "worker", "beat", "signer"} <= names
    assert holders_of_the_key(stack) == {"signer"}


def test_a_stranger_relays_a_voucher_and_the_watcher_closes_it(
    stack: Stack, player: Player, node: Node
):
    with_credits(stack, 10, player)
    stack.stop_process("signer")
    asked = player.client.withdraw(4)
    two_more_scans(stack)
    assert (latest(player).status, latest(player).voucher) == ("approved", None)
    assert player.client.credits().pending_withdrawal == 4
    stack.start_process("signer")
    voucher = signed(player)
    stranger = with_gas(node, Account.create())
    before = node.balance(player.account.address)

    tx_hash = node.redeem(stranger, voucher)

    assert node.balance(player.account.address) == before + asked.amount
    until(lambda: latest(player).status == "paid", "the watcher closes it")
    paid = latest(player)
    assert (paid.id, paid.tx_hash, paid.voucher) == (asked.id, tx_hash, None)
    assert paid.confirmations == paid.confirmations_asked == 3
    assert statement(player) == [("deposit", 10), ("withdrawal", -4)]
    assert (player.client.credits().available, player.client.credits().pending_withdrawal) == (6, 0)
    with pytest.raises(ChainError):
        node.redeem(stranger, voucher)


def test_a_voucher_that_expires_gives_the_credits_back(stack: Stack, player: Player, node: Node):
    with_credits(stack, 10, player)
    player.client.withdraw(10)
    voucher = signed(player)
    assert player.client.credits().available == 0
    node.rpc("evm_increaseTime", VOUCHER_SECONDS + 60)
    for _ in range(4):
        node.rpc("evm_mine")

    until(lambda: latest(player).status == "returned", "the credits come back")

    assert player.client.credits().available == 10
    assert statement(player) == [("deposit", 10), ("withdrawal", -10), ("withdrawal_return", 10)]
    with pytest.raises(ChainError):
        node.redeem(with_gas(node, Account.create()), voucher)


def test_above_the_threshold_an_operator_approves_in_the_console(
    stack: Stack, player: Player, node: Node
):
    with_credits(stack, 1_001, player)
    asked = player.client.withdraw(1_001)
    assert (asked.status, asked.waiting_for) == ("requested", "approval")
    two_more_scans(stack)
    assert latest(player).voucher is None

    with httpx.Client(base_url=stack.url, follow_redirects=True, timeout=30) as console:
        log_in_to_console(console, stack)
        path = f"/admin/contracts/withdrawal/{asked.id}/approve/"
        page = console.post(path, data={"reason": "known to us", **csrf(console)})
    assert "Approve: done." in page.text

    node.redeem(player.account, signed(player))
    until(lambda: latest(player).status == "paid", "the watcher closes it")
    assert player.client.credits().available == 0
    decided = "SELECT w.decided_at IS NOT NULL, o.username FROM contracts_withdrawal w "
    join = "JOIN wallets_wallet o ON o.id = w.decided_by_id WHERE w.id = %s"
    assert sql(stack, decided + join, asked.id) == [(True, OPERATOR)]
    record = "SELECT change_message FROM django_admin_log ORDER BY id DESC LIMIT 1"
    assert "Approve: known to us" in sql(stack, record)[0][0]
    stack.manage("audit")  # fails if anything is red


def log_in_to_console(console: httpx.Client, stack: Stack) -> None:
    console.get("/admin/login/")
    login = {"username": OPERATOR, "password": stack.operator_password, "next": "/admin/"}
    assert "Log out" in console.post("/admin/login/", data=login | csrf(console)).text


def csrf(console: httpx.Client) -> dict[str, str]:
    return {"csrfmiddlewaretoken": console.cookies["csrftoken"]}
