"""The development stack: real PostgreSQL, Valkey and a chain without anything installed.

Nothing in here imports Django: the stack has to be up before settings can be read.
"""

from bas_site.devstack.chain_nodes import Anvil, ChainNode, Hardhat
from bas_site.devstack.errors import DevStackError
from bas_site.devstack.postgres import Postgres
from bas_site.devstack.services import Services, Valkey

__all__ = ["Anvil", "ChainNode", "DevStackError", "Hardhat", "Postgres", "Services", "Valkey"]
