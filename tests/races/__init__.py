"""Both players at the same instant, on real servers, thousands of times.

    python -m tests.races --rounds 2000

`plan` says what is sent when; `client` is one player's process; `run` brings servers, players and
sweep together; `orders` looks whether what was recorded is one of the legal orders, and `scan`
whether anything was told too early. `leaky` is a server that tells too much, for the scanner.
"""
