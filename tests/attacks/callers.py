"""A small world with things of its players, and each kind of caller who may come for them."""

from dataclasses import dataclass, field

from rest_framework.test import APIClient

from contracts.models import Withdrawal
from contracts.withdrawals import pending_account
from matches import lobby
from tests.matches.helpers import player
from tests.site.admin_world import a_chain, a_deposit, a_vault, an_operator
from wallets import ledger
from wallets.login import issue_token
from wallets.models import Transfer, Wallet

VOUCHER = 0xC0FFEE_C0FFEE  # not a number that stands in answers by chance


def program(wallet, scope="money"):
    """A client with a token of the wallet's."""
    text, _ = issue_token(wallet=wallet, name="a bot", scope=scope)
    return APIClient(headers={"Authorization": f"Bearer {text}"}, raise_request_exception=False)


def browser(wallet):
    """A client with a session of the wallet's, whose writes bring no CSRF token."""
    client = APIClient(enforce_csrf_checks=True, raise_request_exception=False)
    client.force_login(wallet)
    return client


@dataclass
class World:
    """Ann owns an open match, one with bob, a withdrawal, a token; carol has nothing."""

    ann: Wallet = field(default_factory=player)
    bob: Wallet = field(default_factory=player)
    carol: Wallet = field(default_factory=player)

    def __post_init__(self) -> None:
        self.vault = a_vault(a_chain())
        self.deposit = a_deposit(self.vault, self.ann)
        terms = {"stake": 10, "visibility": "invitation"}
        self.open = lobby.create_match(wallet=self.ann, **terms)
        self.running = lobby.create_match(wallet=self.ann, **terms)
        invitation = {"match_id": self.running.pk, "invitation": self.running.invitation}
        lobby.join_match(wallet=self.bob, **invitation)
        self.token = issue_token(wallet=self.ann, name="another")[1]
        self.withdrawal = Withdrawal.objects.create(
            wallet=self.ann,
            token=self.vault.tokens.get(),
            credits=5,
            amount=5,
            voucher=VOUCHER,
            status=Withdrawal.Status.APPROVED,
        )
        ledger.move(
            kind=Transfer.Kind.WITHDRAWAL,
            key=f"withdrawal:{self.withdrawal.pk}",
            source=ledger.player_account(self.ann),
            target=pending_account(self.withdrawal),
            amount=5,
        )

    def names(self) -> dict[str, object]:
        """What stands in the templates of paths."""
        return {
            "open": self.open.pk,
            "running": self.running.pk,
            "ann": self.ann.address,
            "bob": self.bob.address,
            "login": self.token.login_id,
            "withdrawal": self.withdrawal.pk,
        }

    def callers(self) -> dict[str, APIClient]:
        """Each kind of caller."""
        operator = an_operator(superuser=True)
        frozen = player()
        clients = {
            "anonymous": APIClient(raise_request_exception=False),
            "owner": program(self.ann),
            "stranger": program(self.carol),
            "play token": program(self.ann, "play"),
            "read token": program(self.ann, "read"),
            "session without CSRF": browser(self.ann),
            "operator": browser(operator),
            "frozen": program(frozen),
        }
        Wallet.objects.filter(pk=frozen.pk).update(is_active=False)
        return clients
