"""What each call costs: the figures of docs/vault.md, with a little room above them."""

from tests.contracts.vault_helpers import NATIVE_PRICE, TOKEN_PRICE, Scene

pytest_plugins = ["tests.contracts.vault_helpers"]

# The dearest case of each: the first of its kind, which writes fresh storage.
CEILINGS = {
    "deployment": 2_000_000,
    "deposit": 75_000,
    "receive": 75_000,
    "depositToken": 110_000,
    "withdraw native": 100_000,
    "withdraw token": 125_000,
}


def measure(scene: Scene) -> dict[str, list[int]]:
    """Return the gas of each call, the first and a later time."""
    vault, token, chain = scene.vault, scene.token, scene.chain
    fresh = chain.deploy("BasVault", scene.owner, scene.signer.address, 1, sender=scene.owner)
    creation = chain.w3.eth.get_block("latest")["gasUsed"]
    assert fresh.address
    figures: dict[str, list[int]] = {"deployment": [creation]}

    def note(name: str, receipt: dict) -> None:
        figures.setdefault(name, []).append(receipt["gasUsed"])

    for _ in range(2):
        note("deposit", scene.deposit(scene.alice, NATIVE_PRICE))
    for _ in range(2):
        plain = chain.send_plain(sender=scene.bob, to=vault.address, value=NATIVE_PRICE)
        note("receive", plain)
    for _ in range(2):
        note("depositToken", scene.deposit_token(scene.alice, TOKEN_PRICE))
    for number in (1, 2):
        note("withdraw native", scene.redeem(scene.voucher(id=number)))
    for number in (3, 4):
        voucher = scene.voucher(id=number, token=token.address, amount=TOKEN_PRICE // 2)
        note("withdraw token", scene.redeem(voucher))
    return figures


def test_no_call_costs_more_gas_than_it_should(scene: Scene):
    figures = measure(scene)

    print(figures)
    assert set(figures) == set(CEILINGS)
    assert {name: max(gas) for name, gas in figures.items() if max(gas) > CEILINGS[name]} == {}
