"""Services are paused each by itself, by whoever has the permission, with a reason."""

import io

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.core.management import CommandError, call_command

from tests.wallets.ledger_helpers import new_wallet
from wallets.errors import Forbidden, ServicePaused
from wallets.models import Service, Wallet
from wallets.services import is_paused, pause_service, require_running, resume_service

pytestmark = pytest.mark.django_db
Name = Service.Name


@pytest.fixture
def operator() -> Wallet:
    operator = Wallet.objects.create(username="ann", is_staff=True)
    operator.user_permissions.add(Permission.objects.get(codename="pause_service"))
    return operator


@pytest.mark.parametrize("name", Name)
def test_each_is_paused_by_itself_and_by_the_permission(operator, name):
    with pytest.raises(Forbidden):
        pause_service(operator=new_wallet(), name=name, reason="mine")
    with pytest.raises(ValueError, match="reason"):
        pause_service(operator=operator, name=name, reason="  ")
    assert not is_paused(name)
    pause_service(operator=operator, name=name, reason="stormy")
    assert [other for other in Name if is_paused(other)] == [name]
    with pytest.raises(ServicePaused, match="stormy"):
        require_running(name)
    with pytest.raises(Forbidden):
        resume_service(operator=new_wallet(), name=name)
    assert is_paused(name)
    row = Service.objects.get(pk=name)
    assert (row.changed_by, row.pause_reason) == (operator, "stormy")


def service(*words: str) -> str:
    out = io.StringIO()
    call_command("service", *words, stdout=out)
    return out.getvalue()


def test_a_command_pauses_and_resumes_while_no_console_runs(operator):
    by = ("--operator", "ann", "--reason", "restoring")
    said = service("pause", "withdrawals", "matches", *by)

    assert [name for name in Name if is_paused(name)] == [Name.WITHDRAWALS, Name.MATCHES]
    assert said == "deposits: running\nmatches: paused: restoring\nwithdrawals: paused: restoring\n"
    record = LogEntry.objects.values_list("user__username", "object_id", "change_message")
    assert set(record) == {
        ("ann", "withdrawals", "Pause: restoring"),
        ("ann", "matches", "Pause: restoring"),
    }

    service("resume", "matches", *by)
    assert [name for name in Name if is_paused(name)] == [Name.WITHDRAWALS]
    assert Service.objects.get(pk="matches").changed_by == operator


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["pause", "battles", "--operator", "ann", "--reason", "x"], "battles"),
        (["pause", "matches", "--operator", "nobody", "--reason", "x"], "No operator is called"),
        (["pause", "matches", "--operator", "eve", "--reason", "x"], "eve may not pause services"),
        (["pause", "matches", "--operator", "ann", "--reason", " "], "A pause has a reason"),
        (["pause", "matches", "--reason", "x"], "--operator"),
    ],
)
def test_the_command_refuses_who_may_not_and_what_is_none(operator, words, says):
    Wallet.objects.create(username="eve", is_staff=True)
    with pytest.raises(CommandError, match=says):
        service(*words)
    assert not any(is_paused(name) for name in Name)
    assert not LogEntry.objects.exists()
