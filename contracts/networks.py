"""Which networks play with play money."""

from collections.abc import Mapping
from types import MappingProxyType

# Chain ids from the public registry of EIP-155 chains (chainlist), testnets only. An allow-list:
# a network that nobody has heard of is treated as real money.
TESTNETS: Mapping[int, str] = MappingProxyType(
    {
        31337: "Anvil or Hardhat",
        1337: "Ganache or Geth --dev",
        11155111: "Ethereum Sepolia",
        560048: "Ethereum Hoodi",
        17000: "Ethereum Holesky",
        84532: "Base Sepolia",
        11155420: "OP Sepolia",
        421614: "Arbitrum Sepolia",
        80002: "Polygon Amoy",
        97: "BNB Smart Chain Testnet",
        43113: "Avalanche Fuji",
        10200: "Gnosis Chiado",
        534351: "Scroll Sepolia",
        59141: "Linea Sepolia",
        300: "zkSync Sepolia",
    }
)

REAL_MONEY_CONSENT = "I accept that players may lose real money"
