"""Operators' second factor: an authenticator app (TOTP, RFC 6238), and recovery codes on paper.

A device that takes a wrong code takes none for a second after it, then two, then four: guessing six
digits would take longer than anybody lives (django-otp's throttling). Each code is tried on one
device alone, by its form: no guess at the app's codes holds up those on paper.
"""

from typing import Any

import django_otp
from django.http import HttpRequest
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from wallets.db import in_transaction
from wallets.errors import Forbidden, NotFound
from wallets.models import Wallet

RECOVERY_CODES = 10
RECOVERY_CODE_LENGTH = 8


def is_enrolled(operator: Wallet) -> bool:
    """Whether an app has been set up, so that a login needs its code."""
    return TOTPDevice.objects.devices_for_user(operator, confirmed=True).exists()


def device_to_enrol(operator: Wallet) -> TOTPDevice:
    """The operator's device that is yet to be confirmed; its secret is for nobody else to see."""
    device, _ = TOTPDevice.objects.get_or_create(
        user=operator, confirmed=False, defaults={"name": "authenticator app"}
    )
    return device


@in_transaction
def enrol(*, request: HttpRequest, operator: Wallet, code: str) -> list[str]:
    """Set the app up that made this code, and count the session as verified by it.

    Returns fresh recovery codes, or nothing if the code is wrong.
    """
    if is_enrolled(operator):
        raise Forbidden
    device = TOTPDevice.objects.select_for_update().get(pk=device_to_enrol(operator).pk)
    if not device.verify_token(code):
        return []
    device.confirmed = True
    device.save()
    django_otp.login(request, device)
    return renew_recovery_codes(operator=operator)


@in_transaction
def verify(*, request: HttpRequest, operator: Wallet, code: str) -> Any:
    """Count the session as verified if the code is the app's, or a recovery code, which is spent.

    Returns the device that took it; None if none did.
    """
    kind = StaticDevice if len(code) == RECOVERY_CODE_LENGTH else TOTPDevice
    devices = list(django_otp.devices_for_user(operator, for_verify=True))
    device = next((device for device in devices if isinstance(device, kind)), None)
    if device is None or not device.verify_token(code):
        return None
    # Wrong codes before it hold up none of the operator's next ones.
    for each in devices:
        each.throttle_reset()
    django_otp.login(request, device)
    return device


@in_transaction
def renew_recovery_codes(*, operator: Wallet) -> list[str]:
    """Codes to be kept on paper, each good for one login. Those from before are void."""
    device, _ = StaticDevice.objects.select_for_update().get_or_create(
        user=operator, name="recovery codes"
    )
    device.throttle_reset()
    device.token_set.all().delete()
    codes = [StaticToken.random_token() for _ in range(RECOVERY_CODES)]
    StaticToken.objects.bulk_create(StaticToken(device=device, token=code) for code in codes)
    return codes


def recovery_codes_left(operator: Wallet) -> int:
    """How many are unused."""
    return StaticToken.objects.filter(device__user=operator).count()


@in_transaction
def reset_second_factor(*, superuser: Wallet, operator_id: int) -> None:
    """Forget an operator's app and codes, and end the sessions: the next login sets an app up.

    Raises Forbidden to all but superusers, NotFound for what is no operator.
    """
    if not superuser.is_superuser:
        raise Forbidden
    operator = Wallet.objects.filter(pk=operator_id, is_staff=True).first()
    if operator is None:
        raise NotFound
    for device in django_otp.devices_for_user(operator, confirmed=None):
        device.delete()
    operator.sessions.all().delete()
