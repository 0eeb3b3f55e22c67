import pytest
from web3 import Web3

from contracts.deploy import deploy, watch_vault
from contracts.models import Deposit, Token
from tests.contracts.world import PRICE, TOKEN_PRICE, World
from wallets.models import Wallet


def test_a_native_deposit_becomes_credits_of_a_wallet_made_for_it(world: World):
    player = world.players[0]
    receipt = world.deposit(player, 7)
    world.confirm()
    assert not Wallet.objects.filter(address=player).exists()

    world.scan()

    assert world.credits(player) == 7
    deposit = Deposit.objects.get()
    assert (deposit.number, deposit.amount, deposit.credits) == (1, 7 * PRICE, 7)
    assert deposit.tx_hash == receipt["transactionHash"].to_0x_hex()
    assert deposit.block_number == receipt["blockNumber"]
    assert deposit.block_hash == receipt["blockHash"].to_0x_hex()
    assert deposit.transfer.kind == "deposit"
    assert deposit.credited_at is not None


def test_a_token_deposit_is_worth_what_the_vault_says(world: World):
    world.deposit_token(world.players[0], 5 * TOKEN_PRICE)
    world.confirm()

    world.scan()

    assert world.credits(world.players[0]) == 5
    assert Deposit.objects.get().token.symbol == "TUSD"


def test_a_plain_transfer_to_the_vault_is_a_deposit(world: World):
    fields = {"from": world.players[0], "to": world.vault.address, "value": 2 * PRICE}
    world.mined(world.node.eth.send_transaction(fields))
    world.confirm()

    world.scan()

    assert world.credits(world.players[0]) == 2


def test_a_contract_makes_several_deposits_in_one_transaction(world: World):
    forwarder = world.deploy_test("Forwarder")
    data = world.vault.encode_abi("deposit")
    calls = [(world.vault.address, n * PRICE, data) for n in (1, 2, 3)]
    receipt = world.send(forwarder.functions.multicall(calls), world.players[0], 6 * PRICE)
    world.confirm()

    world.scan()

    assert world.credits(forwarder.address) == 6
    assert world.credits(world.players[0]) == 0
    deposits = Deposit.objects.order_by("id")
    assert [d.credits for d in deposits] == [1, 2, 3]
    assert {d.tx_hash for d in deposits} == {receipt["transactionHash"].to_0x_hex()}
    assert len({d.log_index for d in deposits}) == 3


def test_a_deposit_that_is_undone_within_its_transaction_is_nothing(world: World):
    forwarder = world.deploy_test("Forwarder")
    data = world.vault.encode_abi("deposit")
    calls = [(world.vault.address, PRICE + 1, data), (world.vault.address, PRICE, data)]
    world.send(forwarder.functions.tryMulticall(calls), world.players[0], 2 * PRICE + 1)
    world.confirm()

    world.scan()

    assert [d.credits for d in Deposit.objects.all()] == [1]


def test_the_same_event_of_another_contract_is_nothing(world: World):
    fake = world.deploy_test("LookAlike")
    call = fake.functions.fakeDeposit(world.players[0], "0x" + "00" * 20, 9 * PRICE, 1)
    world.send(call, world.players[0])
    world.deposit(world.players[1])
    world.confirm()

    world.scan()

    assert world.credits(world.players[0]) == 0
    assert world.credits(world.players[1]) == 1
    assert Deposit.objects.count() == 1


def test_other_events_of_the_vault_are_nothing(world: World):
    world.send(world.vault.functions.setDailyLimit(world.token.address, 5), world.owner)
    world.confirm()

    world.scan()

    assert not Deposit.objects.exists()


def test_an_old_vault_is_still_watched_after_a_new_one(world: World):
    new = world.new_vault()
    world.deposit(world.players[0], 1)
    world.deposit(world.players[0], 2, vault=new)
    world.confirm()

    world.scan()

    assert world.credits(world.players[0]) == 3
    assert [vault.current for vault in world.chain.vaults.order_by("id")] == [False, True]


def test_a_deposit_made_before_its_vault_was_put_on_watch_is_found(world: World):
    owner = world.owner
    world.deposit(world.players[0], 1)
    late, block = deploy(world.node, owner, "BasVault", owner, owner, PRICE)
    world.deposit(world.players[1], 2, vault=late)
    world.deposit(world.players[0], 4)
    world.confirm()
    world.scan()

    watch_vault(world.node, late, block=block, tokens=())
    world.scan()

    assert world.credits(world.players[0]) == 5
    assert world.credits(world.players[1]) == 2
    assert world.statuses() == ["credited"] * 3


def test_a_token_that_is_allowed_later_is_learnt_from_the_vault(world: World):
    token = world.deploy_test("TestToken", "Late dollar", "LATE", 2)
    world.send(world.vault.functions.allowToken(token.address, 50), world.owner)
    world.deposit_token(world.players[0], 150, token=token)
    world.deposit(world.players[1])
    world.confirm()

    world.scan()

    assert world.credits(world.players[0]) == 3
    assert world.credits(world.players[1]) == 1
    learnt = Token.objects.get(address=token.address)
    assert (learnt.symbol, learnt.decimals, learnt.credit_price) == ("LATE", 2, 50)


@pytest.mark.parametrize(
    ("symbol", "shown"), [("A\x00B\u202e\n" + "x" * 60, "AB" + "x" * 30), ("", None)]
)
def test_a_token_with_an_unprintable_name_is_learnt_all_the_same(
    world: World, symbol: str, shown: str | None
):
    token = world.deploy_test("TestToken", "Odd", symbol, 255)
    world.send(world.vault.functions.allowToken(token.address, 1), world.owner)
    world.deposit_token(world.players[0], 4, token=token)
    world.confirm()

    world.scan()

    assert world.credits(world.players[0]) == 4
    learnt = Token.objects.get(address=token.address)
    assert learnt.symbol == (shown or token.address[:10])
    assert learnt.decimals == 255


def test_a_token_that_says_nothing_of_itself_is_learnt_all_the_same(world: World):
    token = world.deploy_test("TestToken", "Odd", "ODD", 6)
    world.send(world.vault.functions.allowToken(token.address, 1), world.owner)
    world.deposit_token(world.players[0], 4, token=token)
    world.confirm()
    # No ERC-20 any more, only a contract that fails whatever it is asked.
    world.chain_node.set_code(token.address, "0xfe")

    world.scan()

    assert world.credits(world.players[0]) == 4
    learnt = Token.objects.get(address=token.address)
    assert (learnt.symbol, learnt.decimals) == (token.address[:10], 0)


def test_the_greatest_amount_of_all_is_credited(world: World):
    token = world.deploy_test("TestToken", "Odd", "ODD", 18)
    world.send(world.vault.functions.allowToken(token.address, 1), world.owner)
    world.deposit_token(world.players[0], 2**256 - 1, token=token)
    world.confirm()

    world.scan()

    assert world.credits(world.players[0]) == 2**256 - 1


def test_what_buys_no_whole_credit_is_kept_and_credited_with_nothing(world: World):
    # The vault refuses such an amount itself; here it has another price than the watcher knows.
    Token.objects.filter(address="0x" + "00" * 20).update(credit_price=2 * PRICE)
    world.deposit(world.players[0], 1)
    world.deposit(world.players[1], 5)
    world.confirm()

    world.scan()
    world.scan()

    assert world.statuses() == ["worthless", "credited"]
    assert world.credits(world.players[0]) == 0
    assert world.credits(world.players[1]) == 2
    assert Web3.is_checksum_address(Deposit.objects.first().wallet.address)
