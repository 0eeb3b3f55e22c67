"""Services are paused each by itself, by whoever has the permission, with a reason."""

import pytest
from django.contrib.auth.models import Permission

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
