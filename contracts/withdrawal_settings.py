"""The settings of withdrawals, with their defaults."""

from typing import Any

from django.conf import settings as site_settings

from contracts.models import NATIVE

DEFAULTS: dict[str, Any] = {
    # What is paid out, as an address; the zero address is the chain's own coin.
    "WITHDRAWAL_TOKEN": NATIVE,
    "WITHDRAWAL_MIN_CREDITS": 1,
    "WITHDRAWAL_WALLET_DAILY_CREDITS": 10_000,
    # Above this, an operator approves first.
    "WITHDRAWAL_APPROVAL_CREDITS": 1_000,
    "WITHDRAWAL_VOUCHER_SECONDS": 24 * 3600,
    # What can't be signed now is looked at again after this time.
    "WITHDRAWAL_RETRY_SECONDS": 15.0,
    # The signer's own; no other process is given them.
    "WITHDRAWAL_KEYSTORE": "",
    "WITHDRAWAL_KEYSTORE_PASSWORD": "",
}


class _Settings:
    def __getattr__(self, name: str) -> Any:
        return getattr(site_settings, name, DEFAULTS[name])


settings = _Settings()
