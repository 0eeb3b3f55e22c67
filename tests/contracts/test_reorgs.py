from typing import Any

import pytest

from bas_site.devstack.chain_nodes import chosen_chain_node
from contracts import deposits, watcher
from contracts.deploy import deploy, watch_vault
from contracts.models import Chain, Deposit
from tests.contracts.rpc_proxy import RpcProxy, edited, result, stale_head, then
from tests.contracts.world import CONFIRMATIONS, World
from wallets import ledger
from wallets.accounts import wallet_for
from wallets.errors import InsufficientCredits
from wallets.models import Account, Transfer


def stake(world: World, player: str, credits_: int, key: str) -> None:
    ledger.move(
        kind=Transfer.Kind.STAKE,
        key=key,
        source=ledger.player_account(wallet_for(player)),
        target=ledger.open_account(kind=Account.Kind.ESCROW, key="escrow:test"),
        amount=credits_,
    )


def test_a_deposit_that_falls_out_before_its_confirmations_is_never_credited(world: World):
    player = world.players[0]
    with world.undone():
        world.deposit(player, 4)
        world.scan()
        assert world.statuses() == ["pending"]
    world.mine(10)

    world.scan()

    assert world.statuses() == ["orphaned"]
    assert world.credits(player) == 0
    assert not Transfer.objects.exists()


def test_a_credited_deposit_that_falls_out_is_taken_back(world: World):
    with world.undone():
        world.deposit(world.players[0], 4)
        world.confirm()
        world.scan()
        assert world.credits(world.players[0]) == 4
    world.mine(10)

    world.scan()

    assert world.statuses() == ["orphaned"]
    assert world.credits(world.players[0]) == 0
    assert [t.kind for t in Transfer.objects.order_by("id")] == ["deposit", "deposit_reversal"]


@pytest.mark.django_db(transaction=True)
def test_a_player_who_staked_what_fell_out_owes_it_and_cant_stake_until_repaid(world: World):
    player = world.players[0]
    with world.undone():
        world.deposit(player, 4)
        world.confirm()
        world.scan()
        stake(world, player, 3, "stake:1")
    world.mine(10)
    world.scan()
    assert world.credits(player) == -3

    with pytest.raises(InsufficientCredits):
        stake(world, player, 1, "stake:2")

    world.deposit(player, 3)
    world.confirm()
    world.scan()
    assert world.credits(player) == 0
    with pytest.raises(InsufficientCredits):
        stake(world, player, 1, "stake:2")
    world.deposit(player, 1)
    world.confirm()
    world.scan()
    stake(world, player, 1, "stake:2")


@pytest.mark.parametrize("credited", [False, True])
@pytest.mark.parametrize("company", [False, True])
def test_a_transaction_that_comes_back_elsewhere_is_credited_once_anew(
    world: World, credited: bool, company: bool
):
    """`company`: with an event before it in its block, so that its log index is another too."""
    signer = world.newcomer()
    raw = world.signed_deposit(signer, 4)
    with world.undone():
        world.send_raw(raw)
        if credited:
            world.confirm()
        world.scan()
    first = Deposit.objects.get()
    world.mine(2)
    if company:
        world.chain_node.rpc("evm_setAutomine", False)
        call = world.vault.functions.setDailyLimit(world.token.address, 5)
        call.transact({"from": world.owner, "gas": 100_000, "gasPrice": 10**12})
        world.node.eth.send_raw_transaction(raw)
        world.mine()
        world.chain_node.rpc("evm_setAutomine", True)
    else:
        world.send_raw(raw)
    world.confirm()

    world.scan()
    world.scan()

    assert world.statuses() == ["orphaned", "credited"]
    second = Deposit.objects.last()
    assert second.tx_hash == first.tx_hash
    assert second.block_hash != first.block_hash
    assert (second.log_index != first.log_index) is company
    assert world.credits(signer.address) == 4


def test_a_chain_that_goes_back_to_the_blocks_it_left_has_its_credits_again(
    world: World, proxy: RpcProxy
):
    """A node on a minority's fork for a while: then the same event in the same block is back."""
    fork_point = world.head
    world.deposit(world.players[0], 4)
    world.mine(5)
    world.scan()
    assert world.credits(world.players[0]) == 4

    def other_block(block: Any) -> Any:
        number = int(block["number"], 16)
        return block | {"hash": f"0x{number:064x}"} if number > fork_point else block

    proxy.always("eth_getBlockByNumber", edited(other_block))
    proxy.always("eth_getLogs", result([]))
    proxy.always("eth_call", result("0x" + "00" * 32))
    world.scan()
    assert world.statuses() == ["orphaned"]
    assert world.credits(world.players[0]) == 0
    proxy.heal()

    world.scan()
    world.scan()

    assert world.statuses() == ["orphaned", "credited"]
    assert len(set(Deposit.objects.values_list("block_hash", "log_index"))) == 1
    assert world.credits(world.players[0]) == 4


def test_a_reorg_below_many_stored_blocks_takes_back_exactly_what_fell_out(world: World):
    early, late = world.players[:2]
    world.deposit(early, 1)
    world.mine(3)
    world.scan()
    kept = Transfer.objects.get()
    with world.undone():
        for _ in range(12):
            world.deposit(late, 2)
            world.scan()
        world.mine(5)
        world.scan()
        assert world.credits(late) == 24
    world.mine(30)

    world.scan()

    assert world.credits(early) == 1
    assert world.credits(late) == 0
    assert world.statuses() == ["credited", *["orphaned"] * 12]
    assert not kept.reversals.exists()
    assert world.chain.scanned_block == world.head


def test_deposits_below_the_fork_keep_their_credits_though_their_range_ended_above_it(
    world: World,
):
    player = world.players[0]
    world.deposit(player, 1)
    world.mine(20)
    with world.undone():
        world.deposit(player, 2)
        world.mine(3)
        # One range: no block between the first deposit and the head was stored by the scan.
        world.scan()
        assert world.credits(player) == 3
    world.mine(10)

    world.scan()

    assert world.credits(player) == 1
    assert world.statuses() == ["credited", "orphaned"]
    assert Transfer.objects.count() == 3


def test_a_reorg_to_a_shorter_chain_takes_back_what_fell_out(world: World):
    player = world.players[0]
    world.scan()
    with world.undone():
        world.mine(2)
        world.scan()
        world.deposit(player, 4)
        world.mine(10)
        world.scan()
        assert world.credits(player) == 4
    world.mine(4)

    world.scan()

    assert world.credits(player) == 0
    assert world.chain.scanned_block == world.chain.head_block == world.head


def test_a_chain_that_only_got_shorter_is_waited_for(world: World):
    """It can't be told from a node that lags behind; what comes next tells."""
    player = world.players[0]
    world.scan()
    with world.undone():
        world.deposit(player, 4)
        world.confirm()
        world.scan()

    assert "read before" in world.failing_scan()
    assert world.credits(player) == 4

    world.mine(CONFIRMATIONS)
    world.scan()
    assert world.credits(player) == 0


def test_a_node_that_lags_behind_takes_nothing_back_and_credits_nothing(
    world: World, proxy: RpcProxy
):
    world.deposit(world.players[0], 4)
    world.confirm()
    world.scan()
    cursor = world.chain.scanned_block
    stale_head(proxy, world.head - 2)

    trouble = world.failing_scan()

    assert trouble == f"The node is at block {cursor - 2}; block {cursor} was read before."
    assert world.credits(world.players[0]) == 4
    assert world.chain.scanned_block == cursor
    proxy.heal()
    world.scan()


def test_a_reorg_between_the_events_and_the_header_is_noticed(world: World, proxy: RpcProxy):
    player = world.players[0]
    world.scan()
    snapshot = world.chain_node.rpc("evm_snapshot")
    world.deposit(player, 4)
    world.confirm()
    cursor = world.chain.scanned_block

    def reorganise() -> None:
        world.chain_node.rpc("evm_revert", snapshot)
        world.chain_node.rpc("evm_increaseTime", 1_000)
        world.mine(10)

    proxy.once("eth_getLogs", then(reorganise))

    assert world.failing_scan() == "The chain was reorganised while it was read."
    assert world.chain.scanned_block == cursor
    assert not Deposit.objects.exists()
    world.scan()
    assert world.credits(player) == 0
    assert world.chain.scanned_block == world.head


def test_a_reorg_below_the_cursor_while_events_are_read_is_noticed(world: World, proxy: RpcProxy):
    signer = world.newcomer()
    raw = world.signed_deposit(signer, 4)
    snapshot = world.chain_node.rpc("evm_snapshot")
    world.send_raw(raw)
    world.scan()
    world.mine(10)

    def reorganise() -> None:
        # After the cursor's block was compared: the deposit moves above the cursor.
        world.chain_node.rpc("evm_revert", snapshot)
        world.chain_node.rpc("evm_increaseTime", 1_000)
        world.mine(4)
        world.send_raw(raw)
        world.mine(6)

    def reorganise_before(_request: Any, forward: Any) -> Any:
        reorganise()
        return forward()

    proxy.once("eth_getLogs", reorganise_before)

    world.failing_scan()
    assert world.statuses() == ["pending"]
    world.scan()
    assert world.statuses() == ["orphaned", "credited"]
    assert world.credits(signer.address) == 4


@pytest.mark.django_db(transaction=True)
def test_a_deposit_that_an_operator_reversed_does_not_stop_a_reorg(world: World):
    with world.undone():
        world.deposit(world.players[0], 4)
        world.deposit(world.players[1], 5)
        world.confirm()
        world.scan()
        ledger.reverse(transfer=Deposit.objects.first().transfer, key="operator:1")
    world.mine(10)

    world.scan()

    assert world.statuses() == ["orphaned", "orphaned"]
    assert [world.credits(player) for player in world.players[:2]] == [0, 0]


def test_a_new_vault_and_a_reorg_between_two_scans_lose_and_double_nothing(world: World):
    signer = world.newcomer()
    raw = world.signed_deposit(signer, 4)
    owner = world.owner
    late, block = deploy(world.node, owner, "BasVault", owner, owner, 10**15)
    with world.undone():
        world.send_raw(raw)
        world.confirm()
        world.scan()
    world.mine(2)
    world.send_raw(raw)
    world.deposit(world.players[0], 2, vault=late)
    world.confirm()
    watch_vault(world.node, late, block=block, tokens=())

    world.scan()

    assert world.credits(signer.address) == 4
    assert world.credits(world.players[0]) == 2


def test_the_last_common_block_is_found_in_few_questions(world: World, proxy: RpcProxy):
    with world.undone():
        for _ in range(24):
            world.mine()
            world.scan()
    world.mine(60)
    asked = proxy.count("eth_getBlockByNumber")

    world.scan()

    assert proxy.count("eth_getBlockByNumber") - asked < 16


def test_blocks_of_long_ago_are_forgotten_and_deep_reorgs_still_found(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(deposits, "BLOCKS_KEPT", 3)
    monkeypatch.setattr(watcher, "PAGE", 2)
    world.deposit(world.players[0], 1)
    world.mine(5)
    world.scan()
    with world.undone():
        for _ in range(10):
            world.deposit(world.players[1])
            world.scan()
        assert world.chain.blocks.count() <= 4
    world.mine(30)

    world.scan()

    assert world.credits(world.players[0]) == 1
    assert world.credits(world.players[1]) == 0


def test_a_chain_that_starts_over_mints_nothing_and_says_so(world: World):
    world.deposit(world.players[0], 4)
    world.scan()
    Chain.objects.update(genesis_hash="0x" + "ab" * 32)
    world.confirm()
    cursor = world.chain.scanned_block

    trouble = world.failing_scan()

    assert trouble.startswith("This is not the chain that Anvil or Hardhat was set up with")
    assert world.credits(world.players[0]) == 0
    assert world.statuses() == ["pending"]
    assert world.chain.scanned_block == cursor


def test_a_restarted_development_chain_is_another_chain(world: World, settings: Any, tmp_path: Any):
    world.deposit(world.players[0], 4)
    world.confirm()
    world.scan()
    with chosen_chain_node()(tmp_path, keep=False) as other:
        other.mine(100)
        settings.CHAIN_RPC_URLS = [other.url]

        assert "first block differs" in world.failing_scan()

    assert world.credits(world.players[0]) == 4
    assert world.statuses() == ["credited"]


def test_a_chain_that_no_node_is_known_for_is_in_trouble_and_read_by_none(world: World):
    elsewhere = Chain.objects.create(
        pk=97,
        name="elsewhere",
        confirmations=1,
        genesis_hash=world.chain.genesis_hash,
        scanned_block=0,
        scanned_hash=world.chain.genesis_hash,
        block_range=1,
    )

    assert watcher.scan(elsewhere.pk)

    elsewhere.refresh_from_db()
    assert elsewhere.trouble == "CHAIN_RPC_URLS_97 names no node."
