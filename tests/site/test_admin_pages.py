"""What operators see: every list and page, its queries, searching, and links."""

import re

import pytest
import zeal
import zeal.constants
import zeal.patch
from django.contrib import admin
from django.db import connection
from django.test.utils import CaptureQueriesContext

from bas_site import admin as console
from contracts.models import Block, Chain, Deposit, Token, Vault
from matches.models import Match
from tests.site.admin_world import World, a_running_match
from wallets.admin_base import BoundedPaginator, in_coins, list_of, page_of
from wallets.models import Account, Posting, Transfer, Wallet

pytestmark = pytest.mark.django_db
MODELS = sorted(admin.site._registry, key=lambda model: model._meta.label)
THIN = "\u202f"


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def console_client(client, world):
    client.force_login(world.superuser)
    return client


def page(model, world) -> str:
    """The address of a row's page, one with much on it if there is such."""
    rows = {
        Wallet: world.player,
        Transfer: world.many_legs,
        Match: world.running,
        Vault: world.vault,
        Chain: world.chain,
    }
    return page_of(rows.get(model) or model.objects.order_by("pk").first())


def results(response) -> list:
    return list(response.context["cl"].result_list)


def found(client, model, term) -> list:
    response = client.get(list_of(model, {"q": term}))
    assert response.status_code == 200
    return results(response)


def test_every_list_and_page_answers_with_data_in_it(world, console_client):
    for model in MODELS:
        response = console_client.get(list_of(model))
        assert response.status_code == 200
        assert len(results(response)) > 0
        response = console_client.get(page(model, world))
        assert response.status_code == 200
        assert b"readonly" in response.content or b"<input" in response.content


@pytest.mark.parametrize(
    "term", ["0x" + "9" * 64, "0x" + "g" * 40, "9" * 40, "%", "0x", "' OR 1=1 --", "é🦍"]
)
def test_nonsense_finds_nothing_and_the_list_says_so(term, world, console_client):
    for model in MODELS:
        if admin.site._registry[model].searches:
            response = console_client.get(list_of(model, {"q": term}))
            assert results(response) == []
            html = response.content.decode()
            assert f"No {model._meta.verbose_name_plural}" in html
            assert "Show all" in html


def test_a_list_with_nothing_in_it_says_what_will_come(client, world):
    client.force_login(world.superuser)
    Block.objects.all().delete()
    html = client.get(list_of(Block)).content.decode()
    assert "The watcher remembers the last block of each scan." in html


@pytest.fixture
def told_of_loops(settings) -> None:
    """Have zeal look for queries in a loop where a test asks it to."""
    # A page and its buttons may each ask for the page's own row.
    settings.ZEAL_NPLUSONE_THRESHOLD = 5
    zeal.constants.initialize_app_registry()
    zeal.patch.patch()


def test_lists_and_pages_ask_as_many_queries_for_30_rows_as_for_3(
    world, console_client, told_of_loops
):
    def queries(url: str) -> int:
        with CaptureQueriesContext(connection) as asked, zeal.zeal_context():
            assert console_client.get(url).status_code == 200
        return len(asked)

    def all_counts() -> dict[str, int]:
        urls = {f"list of {m._meta.label}": list_of(m) for m in MODELS}
        urls |= {f"page of {m._meta.label}": page(m, world) for m in MODELS}
        urls |= {path: path for path in ("/admin/", "/admin/fair-play/", "/admin/sessions/")}
        for url in urls.values():
            console_client.get(url)  # fills the caches of content types
        return {name: queries(url) for name, url in urls.items()}

    few = all_counts()
    world.grow(27)
    world.many_legs = world.a_transfer_of(30)
    assert all_counts() == few
    # The first page asks each figure and each concern by itself.
    assert few.pop("/admin/") <= 38
    assert max(few.values()) <= 10, few


def test_amounts_are_shown_to_the_last_digit(world, console_client):
    assert in_coins(1, 18) == "0.000000000000000001"
    assert in_coins(-15 * 10**17, 18) == "-1.5"
    assert in_coins(2**256 - 1, 0).replace(THIN, "") == str(2**256 - 1)
    html = console_client.get(page_of(world.deposit)).content.decode()
    assert "1.5 ETH" in html
    assert f"1{THIN}500{THIN}000{THIN}000{THIN}000{THIN}000{THIN}000" in html
    html = console_client.get(page_of(world.player)).content.decode()
    assert f"1{THIN}237{THIN}567 available" in html  # the gift and two deposits


def test_a_system_account_shows_this_moments_balance(world, console_client):
    vault = Account.objects.get(kind="vault")
    assert vault.balance == 0, "nothing has rolled it up"
    (shown,) = found(console_client, Account, "vault")
    minted = Transfer.objects.filter(postings__account=vault).count()
    assert shown.now < -1_000_000 * minted / 2


# --- Searching --------------------------------------------------------------------------------
CASINGS = (str, str.lower, lambda address: "0x" + address[2:].upper())


@pytest.mark.parametrize("casing", CASINGS)
def test_an_address_is_found_however_its_letters_are_cased(casing, world, console_client):
    term = f"  {casing(world.player.address)} "
    assert found(console_client, Wallet, term) == [world.player]
    assert {d.wallet for d in found(console_client, Deposit, term)} == {world.player}
    assert len(found(console_client, Posting, term)) == 3
    assert len(found(console_client, Account, term)) == 1
    seat = world.running.seats.first()
    assert found(console_client, Match, casing(seat.wallet.address)) == [world.running]
    assert found(console_client, Vault, casing(world.vault.address)) == [world.vault]
    token = world.vault.tokens.last()
    assert found(console_client, Token, casing(token.address)) == [token]


def test_a_transaction_hash_a_match_and_a_key_are_found(world, console_client):
    transfer = world.deposit.transfer
    tx_hash = "0x" + world.deposit.tx_hash[2:].upper()
    assert found(console_client, Deposit, tx_hash) == [world.deposit]
    assert found(console_client, Match, str(world.ended.pk).upper()) == [world.ended]
    assert found(console_client, Transfer, transfer.key) == [transfer]
    assert transfer in found(console_client, Transfer, "deposit:0x")
    assert len(found(console_client, Posting, transfer.key)) == 2
    assert found(console_client, Account, f"match:{world.running.pk}")
    block = Block.objects.first()
    assert found(console_client, Block, str(block.number)) == [block]
    assert found(console_client, Wallet, world.superuser.username) == [world.superuser]


def test_the_search_over_everything_finds_what_the_operator_may_see(rf, world):
    request = rf.get("/admin/search/")
    request.user = world.superuser
    match, deposit = world.running, world.deposit
    assert [hit.link for hit in console.search(request, str(match.pk))] == [page_of(match)]
    links = [hit.link for hit in console.search(request, deposit.tx_hash)]
    assert page_of(deposit) in links
    links = [hit.link for hit in console.search(request, world.player.address.lower())]
    assert links[0] == page_of(world.player)
    request.user = Wallet.objects.get(pk=world.group.user_set.first().pk)
    assert console.search(request, str(match.pk)) == []


def test_lists_count_no_further_than_their_limit(world, monkeypatch):
    monkeypatch.setattr(BoundedPaginator, "LIMIT", 2)
    with CaptureQueriesContext(connection) as asked:
        assert BoundedPaginator(Posting.objects.order_by("-pk"), 50).count == 2
    assert "LIMIT 2" in asked[0]["sql"]


# --- From page to page ------------------------------------------------------------------------
def links_of(client, url: str) -> set[str]:
    html = client.get(url).content.decode()
    return {link.replace("&amp;", "&") for link in re.findall(r'href="(/admin/[^"]+)"', html)}


def test_from_a_wallet_to_what_is_its_own(world, console_client):
    links = links_of(console_client, page_of(world.player))
    for model, rows in {Posting: 3, Deposit: 2, Account: 1}.items():
        (url,) = (link for link in links if link.startswith(list_of(model) + "?"))
        assert len(results(console_client.get(url))) == rows
    seat = world.running.seats.first()
    (url,) = (
        link
        for link in links_of(console_client, page_of(seat.wallet))
        if link.startswith(list_of(Match) + "?")
    )
    assert results(console_client.get(url)) == [world.running]


def test_from_a_deposit_to_its_transfer_to_its_accounts_and_back(world, console_client):
    transfer = world.deposit.transfer
    assert page_of(transfer) in links_of(console_client, page_of(world.deposit))
    links = links_of(console_client, page_of(transfer))
    for posting in transfer.postings.all():
        assert page_of(posting.account) in links
    (url,) = (link for link in links if link.startswith(list_of(Deposit) + "?"))
    assert results(console_client.get(url)) == [world.deposit]


def test_from_a_match_to_its_wallets_and_its_money_and_back(world, console_client):
    links = links_of(console_client, page_of(world.ended))
    for seat in world.ended.seats.all():
        assert page_of(seat.wallet) in links
    (transfers,) = (link for link in links if link.startswith(list_of(Transfer) + "?"))
    rows = results(console_client.get(transfers))
    assert {row.kind for row in rows} == {"stake", "payout"}
    assert len(rows) == 3
    (escrow,) = (link for link in links if link.startswith(list_of(Account) + "?"))
    (account,) = results(console_client.get(escrow))
    for row in (account, rows[0]):
        (back,) = (
            link
            for link in links_of(console_client, page_of(row))
            if link.startswith(list_of(Match) + "?")
        )
        assert results(console_client.get(back)) == [world.ended]


def test_every_link_of_a_page_leads_somewhere(world, console_client):
    links = set().union(*(links_of(console_client, page(model, world)) for model in MODELS))
    for link in links:
        if not link.endswith(("/logout/", "/jsi18n/")):
            assert console_client.get(link, follow=True).status_code == 200, link


def test_every_filter_answers(world, console_client):
    for model in MODELS:
        html = console_client.get(list_of(model)).content.decode()
        for query in re.findall(r'href="(\?[^"]+)"', html):
            url = list_of(model) + query.replace("&amp;", "&")
            assert console_client.get(url).status_code == 200, url


# --- The console as a whole -------------------------------------------------------------------
def test_the_first_page_shows_the_state_of_the_money(world, console_client):
    """Needs UNFOLD in the settings to name the functions of bas_site.admin."""
    Chain.objects.filter(pk=world.chain.pk).update(trouble="the node says <nothing>")
    a_running_match()
    html = console_client.get("/admin/").content.decode()
    for text in ("Credits owed", "Stakes in play", f"4{THIN}000", "on 4 seats", "2 behind"):
        assert text in html
    assert "the node says &lt;nothing&gt;" in html


def test_the_sidebar_has_the_lists_in_groups(world, console_client):
    html = console_client.get(list_of(Wallet, {"is_staff__exact": 1})).content.decode()
    for title in ("Players", "Money", "Chain", "Matches", "Access", "Record of changes"):
        assert title in html
    (opened,) = re.findall(r'<a href="([^"]+)" class="[^"]*\bactive"', html)
    assert opened == list_of(Wallet, {"is_staff__exact": 1})


def test_pages_ask_nothing_of_another_host(world, console_client):
    urls = ["/admin/", *map(list_of, MODELS), *(page(model, world) for model in MODELS)]
    for url in urls:
        html = console_client.get(url).content.decode()
        loaded = re.findall(r"<(?:script|link|img|iframe|source)[^>]+(?:src|href)=\"([^\"]+)", html)
        assert loaded
        assert [link for link in loaded if not re.match(r"/(?!/)|data:", link)] == [], url
