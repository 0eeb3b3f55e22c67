"""How often whom may call what, in data; `wallets.limits` counts."""

MINUTE, HOUR = 60, 3600
# name, counted by, regular expression over the start of `METHOD /path`, calls, seconds, and whether
# it is closed while nobody counts: what costs credits is, and what opens a door. To play on in a
# match that runs, to take a stake back and to read are not: clocks run, and they cost nothing.
LIMITS = (
    ("address", "address", r"\w+ /(?!healthz|readyz|metrics|static/)", 3000, MINUTE, False),
    ("nonce", "address", r"POST /api/v1/auth/nonce$", 300, MINUTE, False),
    ("login", "address", r"POST /api/v1/auth/login$", 60, MINUTE, True),
    ("operator", "address", r"POST /admin/(login|second-factor)/", 10, MINUTE, True),
    ("wallet", "wallet", r"\w+ /api/", 1200, MINUTE, False),
    ("tokens", "wallet", r"POST /api/v1/auth/tokens$", 30, HOUR, True),
    ("stakes", "wallet", r"POST /api/v1/matches(/quick)?$", 60, MINUTE, True),
    ("joins", "wallet", r"POST /api/v1/matches/.+/(join|rematch)$", 60, MINUTE, True),
    ("money", "wallet", r"POST /api/v1/withdrawals", 20, MINUTE, True),
    ("files", "wallet", r"GET /api/v1/(credits/statement\.|export$)", 10, MINUTE, False),
)
Row = tuple[str, str, str, int, int, bool]


def scaled(scale: float) -> list[Row]:
    """The limits, each so many times as wide; none at all for 0."""
    return [
        (name, by, calls, max(1, int(count * scale)), seconds, closed)
        for name, by, calls, count, seconds, closed in LIMITS
        if scale
    ]
