"""The development stack: real PostgreSQL, Valkey and Anvil without anything installed.

Nothing in here imports Django: the stack has to be up before settings can be read.
"""

from bas_site.devstack.errors import DevStackError
from bas_site.devstack.services import Anvil, Postgres, Services, Valkey

__all__ = ["Anvil", "DevStackError", "Postgres", "Services", "Valkey"]
