"""The main job, played from outside: two fresh wallets, real deposits, a whole match, the payout.

Nothing in here imports Django: the demo sees what a player sees, over HTTP and the chain.
"""

import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]

# The client stands alone, with a package of its own; the project doesn't install itself.
sys.path.insert(0, str(PROJECT / "clients" / "python"))
