"""Adjustments in the console: one operator proposes, another approves, and no more."""

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.urls import reverse

from tests.wallets.ledger_helpers import available, new_wallet
from wallets.models import Adjustment, Wallet

pytestmark = pytest.mark.django_db(transaction=True)

ADD = reverse("admin:wallets_adjustment_add")


def operator(name, *permissions):
    wallet = Wallet.objects.create(username=name, is_staff=True)
    for permission in ("view_adjustment", *permissions):
        wallet.user_permissions.add(Permission.objects.get(codename=permission))
    return wallet


@pytest.fixture
def ann():
    return operator("ann", "propose_adjustment", "decide_adjustment")


@pytest.fixture
def bob():
    return operator("bob", "decide_adjustment")


def propose(client, who, player, **changes):
    client.force_login(who)
    form = {"address": player.address.lower(), "amount": "25", "reason": "a bonus"} | changes
    return client.post(ADD, form)


def decide(client, who, action, adjustment):
    client.force_login(who)
    path = reverse(f"admin:wallets_adjustment_{action}", args=[adjustment.pk])
    return client.post(path, {"reason": "I have looked"}, follow=True)


def test_one_proposes_and_another_approves(client, ann, bob):
    player = new_wallet(10)
    assert propose(client, ann, player).status_code == 302
    adjustment = Adjustment.objects.get()
    assert (adjustment.amount, adjustment.proposed_by) == (25, ann)
    assert available(player) == 10
    decide(client, bob, "approve", adjustment)
    assert available(player) == 35
    assert (
        client.get(reverse("admin:wallets_adjustment_change", args=[adjustment.pk])).status_code
        == 200
    )


def test_the_one_who_proposed_cannot_approve(client, ann):
    player = new_wallet(10)
    propose(client, ann, player)
    page = decide(client, ann, "approve", Adjustment.objects.get())
    assert "second operator" in page.content.decode()
    assert available(player) == 10


def test_the_record_names_who_approved_it_and_nobody_else(client, ann, bob):
    propose(client, ann, new_wallet(10))
    adjustment = Adjustment.objects.get()
    decide(client, bob, "approve", adjustment)
    for late in (ann, bob, operator("eve", "decide_adjustment")):
        decide(client, late, "approve", adjustment)
    record = LogEntry.objects.filter(change_message__startswith="Approve")
    assert [entry.user for entry in record] == [bob]


def test_a_rejected_one_moves_nothing(client, ann, bob):
    player = new_wallet(10)
    propose(client, ann, player)
    decide(client, bob, "reject", Adjustment.objects.get())
    decide(client, bob, "approve", Adjustment.objects.get())
    assert available(player) == 10
    assert Adjustment.objects.get().status == "rejected"


def test_taking_more_than_there_is_is_said_and_moves_nothing(client, ann, bob):
    player = new_wallet(10)
    propose(client, ann, player, amount="-11")
    page = decide(client, bob, "approve", Adjustment.objects.get())
    assert "Not enough credits" in page.content.decode()
    assert (available(player), Adjustment.objects.get().status) == (10, "proposed")


@pytest.mark.parametrize(
    "changes",
    [
        *({"amount": "0"}, {"amount": "x"}, {"amount": "9" * 79}, {"amount": str(-(10**13))}),
        *({"reason": " "}, {"address": "0x12"}, {"address": ""}),
    ],
    ids=str,
)
def test_a_senseless_proposal_is_shown_again(client, ann, changes):
    response = propose(client, ann, new_wallet(), **changes)
    assert response.status_code == 200
    assert not Adjustment.objects.exists()


def test_without_the_permissions_there_is_no_way(client, ann):
    nobody = operator("nobody")
    player = new_wallet(10)
    assert propose(client, nobody, player).status_code == 403
    propose(client, ann, player)
    decide(client, nobody, "approve", Adjustment.objects.get())
    assert available(player) == 10


def test_a_proposal_is_never_changed_or_deleted(client, ann):
    propose(client, ann, new_wallet())
    adjustment = Adjustment.objects.get()
    page = reverse("admin:wallets_adjustment_change", args=[adjustment.pk])
    assert client.post(page, {"amount": "9999"}).status_code == 403
    delete = reverse("admin:wallets_adjustment_delete", args=[adjustment.pk])
    assert client.post(delete, {"post": "yes"}).status_code == 403
    assert Adjustment.objects.get().amount == 25
