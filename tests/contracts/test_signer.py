"""The signer: what it will sign, what it will not, and what it needs for it."""

import io
import stat
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from eth_account import Account
from eth_account.messages import encode_typed_data

from bas_site.celery import app
from contracts import signer, tasks, vouchers
from contracts.models import Chain, Withdrawal
from contracts.withdrawals import approve_withdrawal
from tests.contracts.rpc_proxy import RpcProxy
from tests.contracts.test_reorgs import stake
from tests.contracts.withdraw_world import (
    NATIVE,
    PASSWORD,
    VOUCHER_SECONDS,
    House,
    fresh,
    hold,
    new_house,
    operator,
    status,
    write_keystore,
)
from tests.contracts.world import PRICE, World
from wallets.models import Service, Wallet
from wallets.services import pause_service


@pytest.fixture
def house(world: World, settings: Any, tmp_path: Path) -> House:
    house = new_house(world)
    settings.WITHDRAWAL_KEYSTORE = str(write_keystore(tmp_path / "key.json", house.key))
    settings.WITHDRAWAL_KEYSTORE_PASSWORD = PASSWORD
    return house


def test_what_is_signed_is_the_digest_of_the_vault_on_the_chain(house: House, ann: str):
    withdrawal = house.signed(ann, 4)

    digest = house.world.vault.functions.voucherDigest(
        *vouchers.fields(withdrawal, withdrawal.deadline).values()
    ).call()
    typed = vouchers.typed_data(withdrawal, withdrawal.deadline)
    assert Account._recover_hash(digest, signature=withdrawal.signature) == house.key.address
    assert (
        Account.recover_message(
            encode_typed_data(full_message=typed), signature=withdrawal.signature
        )
        == withdrawal.signer
    )
    assert len(withdrawal.signature) == 132
    assert withdrawal.deadline == house.now + VOUCHER_SECONDS


def test_the_task_signs_all_that_is_approved_and_only_once(house: House, ann: str, settings: Any):
    settings.WITHDRAWAL_APPROVAL_CREDITS = 3
    small, large = house.ask(ann, 3), house.ask(ann, 4)

    assert tasks.sign_withdrawals() == 1
    signature = fresh(small).signature
    assert tasks.sign_withdrawals() == 0

    assert (status(small), status(large)) == ("signed", "requested")
    assert fresh(small).signature == signature
    approve_withdrawal(operator=operator("decide_withdrawal"), withdrawal_id=large.pk)
    assert tasks.sign_withdrawals() == 1


def test_signing_has_a_queue_of_its_own():
    def queue(task: str) -> str:
        return app.amqp.router.route({}, task)["queue"].name

    assert queue("contracts.tasks.sign_withdrawals") == "signer"
    assert queue("contracts.tasks.sweep_withdrawals") != "signer"


def test_a_process_without_the_key_signs_nothing_and_says_so(
    house: House, ann: str, settings: Any, caplog: pytest.LogCaptureFixture
):
    withdrawal = house.ask(ann)
    settings.WITHDRAWAL_KEYSTORE = settings.WITHDRAWAL_KEYSTORE_PASSWORD = ""

    with pytest.raises(signer.NoKey):
        signer.sign_approved()
    assert tasks.sign_withdrawals() == 0

    assert status(withdrawal) == "approved"
    assert "nothing is signed" in caplog.text


@pytest.mark.parametrize("content", [None, "", "{}", "[]", '{"version": 3}', "no json"])
def test_a_keystore_that_is_none_is_no_key(settings: Any, tmp_path: Path, content: str | None):
    path = tmp_path / "key.json"
    if content is not None:
        path.write_text(content)
    settings.WITHDRAWAL_KEYSTORE, settings.WITHDRAWAL_KEYSTORE_PASSWORD = str(path), PASSWORD

    with pytest.raises(signer.NoKey):
        signer.load_key()


def test_neither_key_nor_password_is_in_what_goes_wrong(
    house: House, settings: Any, tmp_path: Path
):
    settings.WITHDRAWAL_KEYSTORE_PASSWORD = "the wrong password"

    with pytest.raises(signer.NoKey) as caught:
        signer.load_key()

    assert caught.value.__suppress_context__
    assert "wrong password" not in str(caught.value)


def test_a_key_that_is_not_the_vaults_signer_signs_nothing(house: House, ann: str):
    withdrawal = house.ask(ann)

    assert not signer.sign(withdrawal.pk, Account.create())

    assert (status(withdrawal), hold(withdrawal)) == ("approved", "operator")
    assert fresh(withdrawal).signature == ""


def test_a_new_signer_voids_the_old_vouchers_and_their_credits_return(house: House, ann: str):
    old = house.signed(ann, 4)
    new_key = Account.create()
    house.own("setSigner", new_key.address)
    assert house.refused(old)

    house.key = new_key
    house.redeem(house.signed(ann, 2))
    house.expire(old)

    assert house.sweep() == 1
    assert (status(old), house.balance(ann)) == ("returned", 8)
    assert not house.red()


# --- What has to wait -------------------------------------------------------------------------


def test_no_more_is_promised_than_the_vault_holds_and_it_is_signed_once_it_does(
    house: House, ann: str
):
    house.world.chain_node.set_balance(house.world.vault.address, 6 * PRICE)
    first, second = house.ask(ann, 4), house.ask(ann, 3)

    assert house.sign(first)
    assert not house.sign(second)
    assert hold(second) == "vault_short"
    house.redeem(first)
    house.confirm()
    # Two are left in it.
    assert not house.sign(second)
    house.fund(house.world.players[1], 1)

    assert house.sign(second)
    assert hold(second) == ""


def test_what_was_redeemed_and_not_read_yet_is_not_counted_as_there(house: House, ann: str):
    first, second = house.signed(ann, 6), house.ask(ann, 4)
    house.redeem(first)

    # Counted twice until the redemption is read: too careful is right, for a moment.
    assert not house.sign(second)
    house.scan()
    assert house.sign(second)


def test_what_left_the_vault_after_the_signer_asked_is_counted(house: House, ann: str):
    house.world.chain_node.set_balance(house.world.vault.address, 9 * PRICE)
    first, second = house.signed(ann, 6), house.ask(ann, 4)
    chain_said = vouchers.standing(house.world.node, fresh(second))
    house.redeem(first)
    house.confirm()
    assert (status(first), chain_said.held) == ("paid", 9 * PRICE)

    assert not signer._sign(second.pk, chain_said, house.key)
    assert hold(second) == "vault_short"


def test_no_more_is_promised_than_may_leave_today(house: House, ann: str):
    house.own("setDailyLimit", NATIVE, 5 * PRICE)
    first, second = house.ask(ann, 3), house.ask(ann, 3)
    assert house.sign(first)
    assert not house.sign(second)
    assert hold(second) == "vault_limit"
    house.redeem(first)
    house.confirm()
    assert not house.sign(second)

    house.at((house.now // 86_400 + 1) * 86_400)

    assert house.sign(second)
    house.redeem(second)


def test_a_limit_of_zero_lets_nothing_leave(house: House, ann: str):
    house.own("setDailyLimit", NATIVE, 0)
    withdrawal = house.ask(ann, 1)

    assert not house.sign(withdrawal)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda h, w: Wallet.objects.filter(pk=w.wallet_id).update(is_active=False), "frozen"),
        (lambda h, w: h.own("pause"), "vault_paused"),
        (lambda h, w: Chain.objects.update(paused=True), "chain"),
        (lambda h, w: Withdrawal.objects.update(amount=w.amount + 1), "operator"),
        (lambda h, w: Withdrawal.objects.update(credits=5, amount=5 * PRICE), "operator"),
        (lambda h, w: Withdrawal.objects.update(wallet=other_wallet(h)), "operator"),
    ],
)
def test_the_signer_checks_everything_again(house: House, ann: str, change: Any, reason: str):
    withdrawal = house.ask(ann, 4)
    change(house, withdrawal)

    assert not house.sign(withdrawal)

    assert reason in hold(withdrawal)
    assert fresh(withdrawal).signature == ""


def other_wallet(house: House) -> Wallet:
    house.fund(house.world.players[1], 5)
    return Wallet.objects.get(address=house.world.players[1])


def test_limits_that_were_lowered_since_the_request_hold(house: House, ann: str, settings: Any):
    withdrawal = house.ask(ann, 4)
    settings.WITHDRAWAL_WALLET_DAILY_CREDITS = 3
    assert not house.sign(withdrawal)
    assert hold(withdrawal) == "wallet_limit"
    settings.WITHDRAWAL_WALLET_DAILY_CREDITS = 4
    settings.WITHDRAWAL_APPROVAL_CREDITS = 3
    assert not house.sign(withdrawal)
    assert hold(withdrawal) == "approval"

    approve_withdrawal(operator=operator("decide_withdrawal"), withdrawal_id=withdrawal.pk)

    assert house.sign(withdrawal)


def test_a_wallet_that_fell_below_zero_is_not_signed_for(house: House):
    player = house.world.players[0]
    house.fund(player, 5)
    with house.undone():
        house.fund(player, 2)
        stake(house.world, player, 4, "stake:x")
        withdrawal = house.ask(player, 3)
    house.world.mine(8)
    house.scan()
    assert house.balance(player) == -2

    assert not house.sign(withdrawal)
    assert hold(withdrawal) == "wallet_negative"
    house.fund(player, 2)
    assert house.sign(withdrawal)


def test_a_node_that_is_behind_or_silent_is_not_believed(
    house: House, ann: str, proxy: RpcProxy, settings: Any
):
    withdrawal = house.ask(ann, 4)
    with house.undone():
        house.world.mine(3)
        house.scan()
    # The node has lost blocks that were read.
    assert not house.sign(withdrawal)
    assert hold(withdrawal) == "chain"
    settings.CHAIN_RPC_URLS = ["http://127.0.0.1:1"]
    assert not house.sign(withdrawal)
    settings.CHAIN_RPC_URLS = ["http://127.0.0.1:1", house.world.chain_node.url]
    house.world.mine(5)
    house.scan()

    assert house.sign(withdrawal)


def test_one_that_waits_is_left_alone_for_a_while_and_holds_up_no_other(
    house: House, ann: str, settings: Any, monkeypatch: pytest.MonkeyPatch
):
    settings.WITHDRAWAL_RETRY_SECONDS = 3600
    house.world.chain_node.set_balance(house.world.vault.address, 3 * PRICE)
    large, small = house.ask(ann, 4), house.ask(ann, 3)

    assert tasks.sign_withdrawals() == 1
    assert (hold(large), status(small)) == ("vault_short", "signed")
    monkeypatch.setattr(signer, "sign", lambda *_: pytest.fail("asked again too soon"))
    assert tasks.sign_withdrawals() == 0


def test_one_that_breaks_holds_up_no_other(house: House, ann: str, monkeypatch: pytest.MonkeyPatch):
    first, second = house.ask(ann, 4), house.ask(ann, 3)
    sign = signer.sign

    def break_on_first(number: int, key: Any) -> bool:
        return sign(number, key) if number != first.pk else 1 // 0

    monkeypatch.setattr(signer, "sign", break_on_first)

    assert tasks.sign_withdrawals() == 1
    assert (status(first), status(second)) == ("approved", "signed")


@pytest.mark.parametrize("breaks", [False, True])
def test_those_that_can_not_be_signed_leave_room_for_newer_ones(
    house: House, ann: str, settings: Any, monkeypatch: pytest.MonkeyPatch, breaks: bool
):
    settings.WITHDRAWAL_RETRY_SECONDS = 0
    monkeypatch.setattr(signer, "BATCH", 2)
    stuck = [house.ask(ann, 1).pk for _ in range(2)]
    Wallet.objects.filter(address=ann).update(is_active=False)
    if breaks:
        sign = signer.sign
        monkeypatch.setattr(signer, "sign", lambda n, key: 1 // 0 if n in stuck else sign(n, key))
    assert tasks.sign_withdrawals() == 0

    bob = house.world.players[1]
    house.fund(bob, 5)
    newer = house.ask(bob, 1)

    assert tasks.sign_withdrawals() == 1
    assert status(newer) == "signed"


def pause_withdrawals() -> None:
    pauser = operator("pause_service")
    pause_service(operator=pauser, name=Service.Name.WITHDRAWALS, reason="a key is changed")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda: Wallet.objects.update(is_active=False), "wallet_frozen"),
        (lambda: Chain.objects.update(paused=True), "chain"),
        (pause_withdrawals, "service_paused"),
        (lambda: Withdrawal.objects.update(credits=5), "operator"),
    ],
)
def test_no_node_is_asked_about_what_the_database_knows(
    house: House, ann: str, monkeypatch: pytest.MonkeyPatch, change: Any, reason: str
):
    withdrawal = house.ask(ann, 4)
    change()
    monkeypatch.setattr(vouchers, "ask_any_node", lambda *_: pytest.fail("a node was asked"))

    assert not house.sign(withdrawal)

    assert hold(withdrawal) == reason


# --- Commands ---------------------------------------------------------------------------------


def run(name: str, *arguments: str) -> str:
    out = io.StringIO()
    call_command(name, *arguments, stdout=out)
    return out.getvalue().strip()


def test_a_keystore_is_made_for_its_owner_alone_and_never_over_another(
    settings: Any, tmp_path: Path
):
    path = tmp_path / "new.json"
    settings.WITHDRAWAL_KEYSTORE, settings.WITHDRAWAL_KEYSTORE_PASSWORD = str(path), PASSWORD

    address = run("make_keystore")

    assert signer.load_key().address == address
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    content = path.read_text()
    assert signer.load_key().key.hex() not in content
    with pytest.raises(CommandError, match="there already"):
        run("make_keystore")
    assert path.read_text() == content
    assert run("make_keystore", "--keep") == address


def test_a_keystore_needs_a_place_and_a_password(settings: Any, tmp_path: Path):
    settings.WITHDRAWAL_KEYSTORE, settings.WITHDRAWAL_KEYSTORE_PASSWORD = str(tmp_path / "x"), ""
    with pytest.raises(CommandError):
        run("make_keystore")
    settings.WITHDRAWAL_KEYSTORE_PASSWORD = PASSWORD
    settings.WITHDRAWAL_KEYSTORE = str(tmp_path / "no" / "folder")
    with pytest.raises(CommandError, match="can't be written"):
        run("make_keystore")


def test_the_owner_sets_signer_and_limits_by_a_command(house: House):
    stranger = Account.create().address

    said = run("open_withdrawals", "--dev", "--signer", stranger, "--daily-credits", "7")
    again = run("open_withdrawals", "--dev", "--signer", stranger, "--daily-credits", "7")

    views = house.world.vault.functions
    assert stranger in said
    assert again == ""
    assert views.signer().call() == stranger
    assert views.dailyLimit(NATIVE).call() == 7 * PRICE
    assert views.dailyLimit(house.world.token.address).call() == 70_000


@pytest.mark.parametrize(
    "arguments",
    [("--signer", "0x12"), ("--daily-credits", "-1"), ("--daily-credits", "5")],
)
def test_opening_withdrawals_needs_good_words_and_the_owners_key(
    house: House, settings: Any, arguments: tuple[str, str]
):
    settings.DEPLOYER_PRIVATE_KEY = ""

    with pytest.raises(CommandError):
        run("open_withdrawals", *arguments)
