"""A random life of a vault beside a model of it that only adds and subtracts."""

from collections import Counter
from collections.abc import Callable

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from web3.types import TxReceipt

from tests.contracts.vault_helpers import (
    DAY,
    NATIVE,
    NATIVE_PRICE,
    TOKEN_PRICE,
    Chain,
    Reverted,
    Voucher,
    new_scene,
)

pytest_plugins = ["tests.contracts.vault_helpers"]

FEE_PERCENT = 10
CURRENCIES = ["native", "token", "fee"]
LIMIT = 30

currencies = st.sampled_from(CURRENCIES)
players = st.sampled_from(["alice", "bob"])
credits_asked = st.integers(0, 20)
lives = st.sampled_from([0, DAY, 30 * DAY, 30 * DAY])
# Most amounts are whole credits.
odd_units = st.sampled_from([0, 0, 0, 1, -1])


def outcome(send: Callable[[], TxReceipt]) -> tuple[TxReceipt | None, str | None]:
    """Return the receipt of what went through, or the name of the error."""
    try:
        return send(), None
    except Reverted as error:
        return None, error.name


class VaultMachine(RuleBasedStateMachine):
    """Does to a vault whatever can be done to it, and foretells each outcome."""

    def __init__(self, chain: Chain) -> None:
        super().__init__()
        self.undone = chain.undone()
        self.undone.__enter__()
        self.scene = new_scene(chain)
        fee_token = chain.deploy("FeeToken", FEE_PERCENT, sender=self.scene.owner)
        self.scene.as_owner("allowToken", fee_token.address, TOKEN_PRICE)
        self.contracts = {"token": self.scene.token, "fee": fee_token}
        self.address = {"native": NATIVE, **{n: c.address for n, c in self.contracts.items()}}
        self.price = {"native": NATIVE_PRICE, "token": TOKEN_PRICE, "fee": TOKEN_PRICE}
        self.limit = {name: LIMIT * self.price[name] for name in CURRENCIES}
        for name in CURRENCIES:
            self.scene.as_owner("setDailyLimit", self.address[name], self.limit[name])
        self.allowed = dict.fromkeys(CURRENCIES, True)
        self.paused = False
        self.deposited: Counter[str] = Counter()
        self.withdrawn: Counter[str] = Counter()
        self.surplus: Counter[str] = Counter()
        self.left_on: Counter[tuple[str, int]] = Counter()
        self.deposits = 0
        self.used: set[int] = set()
        self.vouchers: list[Voucher] = []
        # Most lives are too short to begin with an empty vault.
        for name in CURRENCIES:
            self.deposit(player="bob", name=name, count=100, odd=0)

    def teardown(self) -> None:
        self.undone.__exit__(None, None, None)

    @rule(player=players, name=currencies, count=credits_asked, odd=odd_units)
    def deposit(self, player: str, name: str, count: int, odd: int) -> None:
        amount = max(0, count * self.price[name] + odd)
        arrived = amount - amount * FEE_PERCENT // 100 if name == "fee" else amount
        expected = self.deposit_refusal(name, arrived)
        who = getattr(self.scene, player)
        if name == "native":
            receipt, error = outcome(lambda: self.scene.deposit(who, amount))
        else:
            token = self.contracts[name]
            receipt, error = outcome(lambda: self.scene.deposit_token(who, amount, token))
        assert error == expected
        if receipt is None:
            return
        self.deposits += 1
        self.deposited[name] += arrived
        assert self.scene.events(receipt, "Deposited") == [
            {"player": who, "token": self.address[name], "amount": arrived, "id": self.deposits}
        ]

    def deposit_refusal(self, name: str, arrived: int) -> str | None:
        if self.paused:
            return "EnforcedPause"
        if not self.allowed[name]:
            return "TokenNotAllowed"
        if arrived == 0:
            return "NothingDeposited"
        return "NotWholeCredits" if arrived % self.price[name] else None

    @rule(player=players, name=currencies, count=credits_asked, life=lives)
    def redeem(self, player: str, name: str, count: int, life: int) -> None:
        self.vouchers.append(
            Voucher(
                player=getattr(self.scene, player),
                token=self.address[name],
                amount=count * self.price[name],
                id=len(self.vouchers) + 1,
                deadline=self.scene.chain.now() + life,
            )
        )
        self.redeem_and_compare(self.vouchers[-1])

    @precondition(lambda self: self.vouchers)
    @rule(data=st.data())
    def redeem_again(self, data: st.DataObject) -> None:
        self.redeem_and_compare(data.draw(st.sampled_from(self.vouchers)))

    def redeem_and_compare(self, voucher: Voucher) -> None:
        name = next(n for n in CURRENCIES if self.address[n] == voucher.token)
        before = self.scene.balance(voucher.player, voucher.token)
        at = self.scene.chain.now() + 5
        expected = self.redeem_refusal(voucher, name, at)
        receipt, error = outcome(lambda: self.scene.redeem(voucher, at=at))
        assert error == expected
        if receipt is None:
            return
        fee = voucher.amount * FEE_PERCENT // 100 if name == "fee" else 0
        paid = self.scene.balance(voucher.player, voucher.token) - before
        assert paid == voucher.amount - fee
        self.used.add(voucher.id)
        self.withdrawn[name] += voucher.amount
        self.left_on[name, at // DAY] += voucher.amount

    def redeem_refusal(self, voucher: Voucher, name: str, at: int) -> str | None:
        if self.paused:
            return "EnforcedPause"
        if at > voucher.deadline:
            return "VoucherExpired"
        if voucher.id in self.used:
            return "VoucherUsed"
        if self.left_on[name, at // DAY] + voucher.amount > self.limit[name]:
            return "DailyLimitExceeded"
        if voucher.amount > self.owned(name):
            return "InsufficientBalance" if name == "native" else "ERC20InsufficientBalance"
        return None

    def owned(self, name: str) -> int:
        return self.deposited[name] - self.withdrawn[name] + self.surplus[name]

    @rule(name=currencies, units=st.integers(1, 10**6))
    def force_coins_on_the_vault(self, name: str, units: int) -> None:
        scene = self.scene
        if name == "native":
            vault = scene.vault.address
            scene.chain.deploy("SelfDestructSender", vault, sender=scene.bob, value=units)
        else:
            mint = self.contracts[name].functions.mint(scene.vault.address, units)
            scene.chain.send(mint, sender=scene.bob)
        self.surplus[name] += units

    @rule(seconds=st.sampled_from([60, DAY // 2, DAY]))
    def wait(self, seconds: int) -> None:
        self.scene.chain.rpc("evm_setNextBlockTimestamp", self.scene.chain.now() + seconds)
        self.scene.chain.rpc("evm_mine")

    @rule(name=currencies, count=st.integers(0, LIMIT))
    def change_limit(self, name: str, count: int) -> None:
        self.limit[name] = count * self.price[name]
        self.scene.as_owner("setDailyLimit", self.address[name], self.limit[name])

    @rule(name=currencies)
    def switch_allowed(self, name: str) -> None:
        self.allowed[name] = not self.allowed[name]
        if self.allowed[name]:
            self.scene.as_owner("allowToken", self.address[name], self.price[name])
        else:
            self.scene.as_owner("disallowToken", self.address[name])

    @rule()
    def pause_for_a_deposit_and_a_withdrawal(self) -> None:
        self.paused = True
        self.scene.as_owner("pause")
        self.deposit(player="alice", name="native", count=1, odd=0)
        self.redeem(player="alice", name="native", count=1, life=DAY)
        self.scene.as_owner("unpause")
        self.paused = False

    @invariant()
    def the_vault_holds_what_came_less_what_left(self) -> None:
        for name in CURRENCIES:
            held = self.scene.balance(self.scene.vault.address, self.address[name])
            assert held == self.owned(name)

    @invariant()
    def the_vault_remembers_what_happened(self) -> None:
        assert self.scene.read("depositCount") == self.deposits
        day = self.scene.chain.now() // DAY
        for name in CURRENCIES:
            left = self.scene.read("withdrawnOn", self.address[name], day)
            assert left == self.left_on[name, day]
        for voucher in self.vouchers[-3:]:
            assert self.scene.read("isUsed", voucher.id) == (voucher.id in self.used)


def test_the_vault_holds_its_books_through_any_life(vault_chain: Chain):
    run_state_machine_as_test(
        lambda: VaultMachine(vault_chain),
        settings=settings(
            max_examples=8,
            stateful_step_count=20,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
