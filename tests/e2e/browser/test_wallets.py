"""Wallets that say no, are somewhere else, or change their mind."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from bas_site.devstack.stack import Stack
from tests.e2e.helpers import until

pytestmark = pytest.mark.xdist_group("stack")

ANN = "0x14dC79964da2C08b23698B3D3cc7Ca32193d9955"
BOB = "0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f"

# A wallet as an extension would bring it: an EIP-1193 provider that makes itself known by EIP-6963.
WALLET = """
(() => {
  const listeners = {};
  const refuse = (code) => { throw Object.assign(new Error("no"), { code }); };
  window.wallet = {
    accounts: [%(account)s], chainId: %(chain_id)s, refuses: [], knows: ["0x1"], calls: [],
    change(event, value) { for (const listener of listeners[event] ?? []) listener(value); },
  };
  const provider = {
    on: (event, listener) => (listeners[event] ??= []).push(listener),
    async request({ method, params }) {
      wallet.calls.push({ method, params });
      if (wallet.refuses.includes(method)) refuse(4001);
      if (method === "eth_requestAccounts" || method === "eth_accounts") return wallet.accounts;
      if (method === "eth_chainId") return wallet.chainId;
      if (method === "wallet_addEthereumChain") {
        wallet.knows.push(params[0].chainId);
        return null;
      }
      if (method === "wallet_switchEthereumChain") {
        if (!wallet.knows.includes(params[0].chainId)) refuse(4902);
        wallet.chainId = params[0].chainId;
        wallet.change("chainChanged", wallet.chainId);
        return null;
      }
      const token = /csrftoken=([^;]*)/.exec(document.cookie)[1];
      const answer = await fetch("/dev/rpc", {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-CSRFToken": token },
        body: JSON.stringify({ method, params }),
      });
      return (await answer.json()).result;
    },
  };
  if (%(is_old)s) { window.ethereum = provider; return; }
  const info = { uuid: "test", name: "Test wallet", icon: "", rdns: "test.wallet" };
  const tell = () => dispatchEvent(
    new CustomEvent("eip6963:announceProvider", { detail: Object.freeze({ info, provider }) }));
  addEventListener("eip6963:requestProvider", tell);
})();
"""
LOCAL, ELSEWHERE = "0x7a69", "0x1"


def wallet(account: str, chain_id: str, *, is_old: bool = False) -> str:
    values = {"account": account, "chain_id": chain_id, "is_old": is_old}
    return WALLET % {name: json.dumps(value) for name, value in values.items()}


def connect(page: Page, name: str = "Test wallet") -> None:
    page.get_by_role("banner").get_by_role("button", name="Connect wallet").click()
    page.get_by_role("button", name=name).click()


def test_a_wallet_that_is_only_window_ethereum_can_be_chosen(visit: Callable[..., Page]) -> None:
    page = visit(script=wallet(ANN, LOCAL, is_old=True))
    connect(page, "Browser wallet")
    expect(page.get_by_role("banner").get_by_title(ANN)).to_be_visible()


def test_a_refused_signature_is_a_friendly_sentence_and_can_be_tried_again(
    visit: Callable[..., Page],
) -> None:
    page = visit(script=wallet(ANN, LOCAL))
    page.evaluate("wallet.refuses = ['personal_sign']")
    connect(page)
    expect(page.get_by_role("alert").get_by_text("You declined in your wallet")).to_be_visible()
    page.evaluate("wallet.refuses = []")
    page.get_by_role("button", name="Test wallet").click()
    expect(page.get_by_role("banner").get_by_title(ANN)).to_be_visible()


def test_a_wallet_that_does_not_know_the_network_is_offered_it(
    visit: Callable[..., Page], stack: Stack
) -> None:
    page = visit(script=wallet(ANN, ELSEWHERE))
    connect(page)
    expect(page.get_by_role("banner").get_by_title(ANN)).to_be_visible()
    (added,) = page.evaluate(
        "wallet.calls.filter((c) => c.method === 'wallet_addEthereumChain').map((c) => c.params[0])"
    )
    assert added["chainId"] == LOCAL
    assert added["rpcUrls"] == [stack.env["CHAIN_RPC_URLS"]]
    assert added["nativeCurrency"] == {"name": "ETH", "symbol": "ETH", "decimals": 18}
    assert page.evaluate("wallet.chainId") == LOCAL


def test_another_network_or_account_in_the_wallet_is_noticed_and_can_be_put_right(
    visit: Callable[..., Page],
) -> None:
    page = visit(script=wallet(ANN, LOCAL))
    connect(page)
    expect(page.get_by_role("banner").get_by_title(ANN)).to_be_visible()
    page.evaluate(f"wallet.knows.push('{LOCAL}')")
    page.evaluate(f"wallet.chainId = '{ELSEWHERE}'; wallet.change('chainChanged', wallet.chainId)")
    expect(page.get_by_text("Your wallet is on another network")).to_be_visible()
    page.get_by_role("button", name="Switch network").click()
    expect(page.get_by_text("Your wallet is on another network")).to_be_hidden()

    page.evaluate(f"wallet.accounts = ['{BOB}']; wallet.change('accountsChanged', wallet.accounts)")
    expect(page.get_by_text("You are still signed in as before")).to_be_visible()
    page.get_by_role("button", name="Sign in with it").click()
    expect(page.get_by_role("banner").get_by_title(BOB)).to_be_visible()
    expect(page.get_by_text("You are still signed in as before")).to_be_hidden()


def test_a_wallet_that_connected_before_is_found_again_after_a_reload(
    visit: Callable[..., Page],
) -> None:
    page = visit(script=wallet(ANN, LOCAL))
    connect(page)
    expect(page.get_by_role("banner").get_by_title(ANN)).to_be_visible()
    page.reload()
    asked = "wallet.calls.some((call) => call.method === 'eth_chainId')"
    until(lambda: page.evaluate(asked), "the wallet is asked for its network")
    page.evaluate(f"wallet.chainId = '{ELSEWHERE}'; wallet.change('chainChanged', wallet.chainId)")
    expect(page.get_by_text("Your wallet is on another network")).to_be_visible()
