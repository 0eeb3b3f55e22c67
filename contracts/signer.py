"""The signer: the one process that holds the key to the vault, and does nothing else.

It trusts no other process: before it signs, it checks everything again by itself, in the database
under a lock and on the chain. It runs the Celery queue `signer`, and only it is given
WITHDRAWAL_KEYSTORE and WITHDRAWAL_KEYSTORE_PASSWORD.
"""

import json
from datetime import timedelta
from functools import cache
from pathlib import Path

import structlog
from django.conf import settings
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from eth_account import Account as Key
from eth_account.signers.local import LocalAccount
from eth_utils.exceptions import ValidationError
from web3 import Web3
from web3.exceptions import Web3Exception

from contracts import vouchers
from contracts.models import Redemption, Token, Vault, Withdrawal
from contracts.node import reason
from contracts.vouchers import Standing
from contracts.withdrawals import locked, move, pending_account, withdrawn_on_day_of
from wallets import ledger
from wallets.db import in_transaction
from wallets.models import Service
from wallets.services import is_paused

# So many in one run, each with a few questions to a node: within the time that a task may take.
BATCH = 50
Hold = Withdrawal.Hold
log = structlog.get_logger(__name__)


class NoKey(Exception):
    """This process holds no key. In words that are safe to log: never the key, nor the password."""


def load_key() -> LocalAccount:
    """The signer's key, out of its encrypted file. Raises NoKey."""
    path, password = settings.WITHDRAWAL_KEYSTORE, settings.WITHDRAWAL_KEYSTORE_PASSWORD
    if not (path and password):
        raise NoKey("WITHDRAWAL_KEYSTORE and WITHDRAWAL_KEYSTORE_PASSWORD are not both set.")
    return _decrypt(path, password)


@cache
def _decrypt(path: str, password: str) -> LocalAccount:
    # `from None`: the cause's words or its frames may hold what must stay secret.
    try:
        keystore = json.loads(Path(path).read_text())
    except (OSError, ValueError):
        raise NoKey("WITHDRAWAL_KEYSTORE names no keystore that can be read.") from None
    try:
        return Key.from_key(Key.decrypt(keystore, password))
    except (ValueError, TypeError, KeyError, NotImplementedError, ValidationError):
        raise NoKey(
            "WITHDRAWAL_KEYSTORE can't be decrypted with WITHDRAWAL_KEYSTORE_PASSWORD."
        ) from None


def sign_approved() -> int:
    """Sign every approved withdrawal that can be signed now; how many there were. Raises NoKey."""
    key = load_key()
    return sum(_sign_or_log(pk, key) for pk in _due().values_list("pk", flat=True)[:BATCH])


def _due() -> QuerySet[Withdrawal]:
    """Approved withdrawals, new ones first, and then those that have waited longest for a look.

    One that had to wait is left alone for a while.
    """
    before = timezone.now() - timedelta(seconds=settings.WITHDRAWAL_RETRY_SECONDS)
    return Withdrawal.objects.filter(
        Q(tried_at=None) | Q(tried_at__lt=before), status=Withdrawal.Status.APPROVED
    ).order_by(F("tried_at").asc(nulls_first=True), "id")


def _sign_or_log(withdrawal_id: int, key: LocalAccount) -> bool:
    try:
        return sign(withdrawal_id, key)
    except Exception:
        log.exception("withdrawal not signed", withdrawal=withdrawal_id)
        Withdrawal.objects.filter(pk=withdrawal_id).update(tried_at=timezone.now())
        return False


def sign(withdrawal_id: int, key: LocalAccount) -> bool:
    """Sign one withdrawal, once; False if it is not to be signed, or not now."""
    withdrawal = Withdrawal.objects.select_related("token__vault__chain", "wallet").get(
        pk=withdrawal_id
    )
    if withdrawal.status != Withdrawal.Status.APPROVED:
        return False
    # Many may wait for the same thing; the nodes need not be asked about each, again and again.
    if hold := _known_hold(withdrawal):
        return _wait(withdrawal_id, hold)

    def question(node: Web3) -> Standing:
        return vouchers.standing(node, withdrawal)

    try:
        answer = vouchers.ask_any_node(withdrawal.token.vault.chain, question)
    except Web3Exception as error:
        log.warning("the vault was not asked", withdrawal=withdrawal_id, trouble=reason(error))
        return _wait(withdrawal_id, Hold.CHAIN)
    return _sign(withdrawal_id, answer, key)


@in_transaction
def _sign(withdrawal_id: int, answer: Standing, key: LocalAccount) -> bool:
    # The vault's row, before all others: two signers must not promise the same coins.
    vault_id = Token.objects.get(withdrawals=withdrawal_id).vault_id
    Vault.objects.select_for_update(no_key=True).get(pk=vault_id)
    withdrawal = locked(withdrawal_id)
    if withdrawal.status != Withdrawal.Status.APPROVED:
        return False
    hold = _why_not(withdrawal, answer, key.address)
    if hold:
        return _wait(withdrawal_id, hold)
    deadline = answer.timestamp + settings.WITHDRAWAL_VOUCHER_SECONDS
    signed = key.sign_typed_data(full_message=vouchers.typed_data(withdrawal, deadline))
    withdrawal.deadline = deadline
    withdrawal.signature = Web3.to_hex(signed.signature)
    withdrawal.signer = key.address
    withdrawal.signed_at = timezone.now()
    withdrawal.signed_block = answer.block
    move(withdrawal, Withdrawal.Status.SIGNED)
    return True


@in_transaction
def _wait(withdrawal_id: int, hold: Withdrawal.Hold) -> bool:
    """Leave a withdrawal for later, and say what it waits for. Returns False."""
    Withdrawal.objects.filter(pk=withdrawal_id, status=Withdrawal.Status.APPROVED).update(
        hold=hold, tried_at=timezone.now()
    )
    log.warning("withdrawal waits", withdrawal=withdrawal_id, for_=hold.value)
    return False


def _why_not(withdrawal: Withdrawal, answer: Standing, signer: str) -> Withdrawal.Hold:
    """The first reason not to sign a locked withdrawal; Hold.NONE if there is none."""
    promised = _promised(withdrawal, answer.block)
    return _known_hold(withdrawal) or _first(
        (answer.signer != signer or answer.used, Hold.OPERATOR),
        (answer.paused, Hold.VAULT_PAUSED),
        (promised + withdrawal.amount > answer.held, Hold.VAULT_SHORT),
        (promised + withdrawal.amount > answer.left_today, Hold.VAULT_LIMIT),
    )


def _known_hold(withdrawal: Withdrawal) -> Withdrawal.Hold:
    """The first reason not to sign that the database alone knows; Hold.NONE if there is none."""
    wallet, token = withdrawal.wallet, withdrawal.token
    pending = pending_account(withdrawal)
    rightful = (
        withdrawal.amount == withdrawal.credits * token.credit_price
        and ledger.balance(pending) == withdrawal.credits
        and pending.wallet_id == wallet.pk
        and not withdrawal.redemptions.exclude(status=Redemption.Status.ORPHANED).exists()
    )
    over = withdrawal.credits > settings.WITHDRAWAL_APPROVAL_CREDITS
    asked_that_day = withdrawn_on_day_of(wallet, withdrawal.requested_at)
    return _first(
        (not rightful, Hold.OPERATOR),
        (over and withdrawal.decided_by_id is None, Hold.APPROVAL),
        (is_paused(Service.Name.WITHDRAWALS), Hold.SERVICE_PAUSED),
        (not wallet.is_active, Hold.WALLET_FROZEN),
        (ledger.balance(ledger.player_account(wallet)) < 0, Hold.WALLET_NEGATIVE),
        (asked_that_day > settings.WITHDRAWAL_WALLET_DAILY_CREDITS, Hold.WALLET_LIMIT),
        (token.vault.chain.paused, Hold.CHAIN),
    )


def _first(*reasons: tuple[bool, Withdrawal.Hold]) -> Withdrawal.Hold:
    return next((hold for applies, hold in reasons if applies), Hold.NONE)


def _promised(withdrawal: Withdrawal, block: int) -> int:
    """What other vouchers may still take out of the vault after a block, of the same coin."""
    status = Withdrawal.Status
    outstanding = Q(status=status.SIGNED) | Q(
        Q(redemptions__block_number__gt=block) & ~Q(redemptions__status="orphaned"),
        status__in=[status.REDEEMED, status.PAID],
    )
    of_token = Withdrawal.objects.filter(outstanding, token=withdrawal.token_id)
    return sum(amount for _, amount in of_token.values_list("pk", "amount").distinct())
