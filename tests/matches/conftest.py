import pytest
from rest_framework.test import APIClient

from tests.matches.helpers import Table


@pytest.fixture
def table(db):
    """A match in its first movement."""
    return Table()


@pytest.fixture
def client_of():
    """A client of the API for a wallet, logged in without the ceremony."""

    def make(wallet):
        client = APIClient()
        client.force_authenticate(user=wallet)
        return client

    return make
