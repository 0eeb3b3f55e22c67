"""Settings, all of them from the environment (12-factor). docs/operations.md lists each one.

A setting that is missing or makes no sense stops the start with a sentence that names it.
"""

import logging
from pathlib import Path
from urllib.parse import urlsplit

import environ
from celery.schedules import crontab
from django.core.exceptions import ImproperlyConfigured
from django.templatetags.static import static
from django.urls import reverse_lazy

from bas_site import limits
from bas_site.browser_headers import OWN_ORIGIN
from contracts.networks import REAL_MONEY_CONSENT, TESTNETS

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()

BAS_ENV = env.str("BAS_ENV", default="production")
if BAS_ENV not in ("development", "production"):
    raise ImproperlyConfigured(f"BAS_ENV is {BAS_ENV!r}; it must be development or production.")
DEVELOPMENT = BAS_ENV == "development"
DEBUG = env.bool("DEBUG", default=False)


def _required(name: str, *, in_development: str) -> str:
    """A setting that has a default on a developer's machine only."""
    return env.str(name, default=in_development) if DEVELOPMENT else env.str(name)


SECRET_KEY = _required("SECRET_KEY", in_development="development only, not a secret")
# Encrypts what must not be readable in a database dump: the secrets of live matches.
FIELD_KEY = _required("FIELD_KEY", in_development="development only, not a secret either")

# The one origin that players see. The login's domain and the cookies' flags come from it,
# never from the Host header, which a client can choose.
SITE_URL = _required("SITE_URL", in_development="http://localhost:8000").rstrip("/")
_site = urlsplit(SITE_URL)
if _site.scheme not in ("http", "https") or not _site.hostname or _site.path:
    raise ImproperlyConfigured(
        f"SITE_URL is {SITE_URL!r}; it must be like https://play.example.org"
    )
HTTPS = _site.scheme == "https"
if not (HTTPS or DEVELOPMENT):
    raise ImproperlyConfigured("SITE_URL must be https:// when BAS_ENV is production.")
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=[_site.hostname, "127.0.0.1", "localhost"])
CSRF_TRUSTED_ORIGINS = [SITE_URL]

INSTALLED_APPS = [
    "wallets",
    "contracts",
    "matches",
    "unfold.apps.BasicAppConfig",
    "bas_site.console_config.ConsoleConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "corsheaders",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_structlog",
    "django_otp",
    "django_otp.plugins.otp_totp",
    "django_otp.plugins.otp_static",
    "bas_site",
]
if DEVELOPMENT:
    INSTALLED_APPS.append("django_migration_linter")
MIGRATION_LINTER_OPTIONS = {
    "no_cache": True,
    "include_apps": ["wallets", "contracts", "matches"],
    "warnings_as_errors": True,
    # They come before any server that could be replaced while they run.
    "ignore_name": [
        "0002_ledger",
        "0002_void_expire_heartbeat",
        "0003_rematch",
        "0004_holdings",
        "0004_practice",
        "0005_node_last_cause",
        "0005_ratings",
    ],
}
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "corsheaders.middleware.CorsMiddleware",
    "bas_site.browser_headers.BrowserHeaders",
    "bas_site.middleware.AddressLimits",
    "bas_site.middleware.Unreadable",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django_otp.middleware.OTPMiddleware",
    "django_structlog.middlewares.RequestMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "bas_site.urls"
ASGI_APPLICATION = "bas_site.asgi.application"
WSGI_APPLICATION = "bas_site.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "bas_site" / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# --- Data -------------------------------------------------------------------------------------
DATABASES = {"default": env.db("DATABASE_URL")}
if DATABASES["default"]["ENGINE"] != "django.db.backends.postgresql":
    raise ImproperlyConfigured("DATABASE_URL must be postgres://…: the ledger lives in Postgres.")
# The web server keeps connections, one for each thread that answers requests, and makes requests
# wait rather than Postgres refuse. Other processes make one when they need it.
DATABASE_POOL_SIZE = env.int("DATABASE_POOL_SIZE", default=0)
DATABASES["default"] |= {
    "CONN_MAX_AGE": 0
    if DATABASE_POOL_SIZE
    else env.int("DATABASE_CONN_MAX_AGE_SECONDS", default=0),
    # One that Postgres has closed meanwhile is not given to anybody.
    "CONN_HEALTH_CHECKS": True,
    "OPTIONS": {
        "pool": DATABASE_POOL_SIZE
        and {"min_size": 0, "max_size": DATABASE_POOL_SIZE, "timeout": 10, "max_idle": 60},
        # Nothing here takes long: a statement or a lock that does is a fault, and must not
        # pile up requests behind it. Migrations and exports set their own.
        "options": "-c statement_timeout=30s -c lock_timeout=10s "
        "-c idle_in_transaction_session_timeout=60s",
        "connect_timeout": 10,
    },
}
# The role that the web servers and workers log in with: it may not write the ledger's tables.
DATABASE_APP_ROLE = env.str("DATABASE_APP_ROLE", default="")
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
VALKEY_URL = _required("VALKEY_URL", in_development="redis://127.0.0.1:63799/0")
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": VALKEY_URL,
        # A cache that does not answer must not hold a request up.
        "OPTIONS": {"socket_connect_timeout": 2, "socket_timeout": 2},
    }
}

# --- Who you are ------------------------------------------------------------------------------
AUTH_USER_MODEL = "wallets.Wallet"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = reverse_lazy("admin:login")
LOGIN_REDIRECT_URL = reverse_lazy("admin:index")
# Whether operators need a code of their authenticator app beside the password.
OPERATOR_TWO_FACTOR = env.bool("OPERATOR_TWO_FACTOR", default=not DEVELOPMENT)
OTP_TOTP_ISSUER = "Block Ape Scissors"
SESSION_ENGINE = "wallets.sessions"
# Sessions, and as many tokens: those that have been unused the longest make room.
LOGINS_PER_WALLET = env.int("LOGINS_PER_WALLET", default=100)
SESSION_COOKIE_AGE = env.int("SESSION_SECONDS", default=14 * 24 * 3600)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
LOGIN_NONCE_SECONDS = env.int("LOGIN_NONCE_SECONDS", default=300)
LOGIN_CLOCK_SKEW_SECONDS = env.int("LOGIN_CLOCK_SKEW_SECONDS", default=30)
# What asks the chain whether a contract wallet stands by a signature: `wallets` knows no chain.
CONTRACT_WALLET_CHECK = "contracts.contract_wallets.stands_by"
# Enough for a wallet that checks a passkey's signature in Solidity, and for deploying one.
CONTRACT_WALLET_GAS = env.int("CONTRACT_WALLET_GAS", default=5_000_000)
# A login waits for it: twice for each node, at most.
CONTRACT_WALLET_SECONDS = env.float("CONTRACT_WALLET_SECONDS", default=3)
BEARER_TOKEN_SECONDS = env.int("BEARER_TOKEN_SECONDS", default=30 * 24 * 3600)

# --- The browser ------------------------------------------------------------------------------
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
SECURE_SSL_REDIRECT = HTTPS and env.bool("SECURE_SSL_REDIRECT", default=True)
# Asked of each server by itself, behind the proxy.
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]
SECURE_PROXY_SSL_HEADER = (
    ("HTTP_X_FORWARDED_PROTO", "https") if env.bool("BEHIND_PROXY", default=False) else None
)
# How many proxies in a row stand before this, each appending to X-Forwarded-For.
TRUSTED_PROXY_COUNT = env.int(
    "TRUSTED_PROXY_COUNT", default=int(SECURE_PROXY_SSL_HEADER is not None)
)
X_FRAME_OPTIONS = "DENY"
CSRF_FAILURE_VIEW = "bas_site.problems.csrf_failure"
SECURE_REFERRER_POLICY = "same-origin"
# Pages of these origins may call the API, with a token: cookies are for this site's own pages.
CORS_ALLOWED_ORIGINS = env.list("CORS_ALLOWED_ORIGINS", default=[])
CORS_URLS_REGEX = r"^/api/"
CORS_ALLOW_HEADERS = (
    *("accept", "authorization", "content-type"),
    *("idempotency-key", "invitation", "last-event-id"),
)
CORS_EXPOSE_HEADERS = ("RateLimit", "RateLimit-Policy", "Retry-After")
CONTENT_SECURITY_POLICY = {"DIRECTIVES": OWN_ORIGIN}

# --- The API ----------------------------------------------------------------------------------
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "wallets.authentication.BearerAuthentication",
        "wallets.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["wallets.authentication.IsPlayer"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["wallets.parsers.JsonParser"],
    "DEFAULT_SCHEMA_CLASS": "bas_site.schema.AutoSchema",
    "DEFAULT_PAGINATION_CLASS": "wallets.pagination.NewestFirst",
    "DEFAULT_THROTTLE_CLASSES": ["wallets.limits.WalletLimits"],
    "EXCEPTION_HANDLER": "bas_site.problems.exception_handler",
    "UNICODE_JSON": True,
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
DATA_UPLOAD_MAX_MEMORY_SIZE = 64 * 1024
REQUEST_BODY_SECONDS = env.float("REQUEST_BODY_SECONDS", default=15)
# How wide the limits of bas_site.limits are; 0 is none. Programs on a developer's machine, tests
# and benchmarks among them, may call as fast as they can.
RATE_LIMIT_SCALE = env.float("RATE_LIMIT_SCALE", default=1000 if DEVELOPMENT else 1)
RATE_LIMITS = limits.scaled(RATE_LIMIT_SCALE)
SPECTACULAR_SETTINGS = {
    "TITLE": "Block Ape Scissors",
    "DESCRIPTION": "Battle for credits that live on a chain. "
    "Credits are whole numbers; amounts on the chain are decimal strings in the token's "
    "smallest unit (wei). Times are UTC. Errors are RFC 9457 problem+json with a stable `code`.",
    "VERSION": "1",
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SERVE_AUTHENTICATION": [],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "COMPONENT_SPLIT_REQUEST": True,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "bas_site.schema.add_problem",
    ],
    "SCHEMA_PATH_PREFIX": r"/api/v1",
    "ENUM_NAME_OVERRIDES": {
        "TokenScope": "wallets.models.BearerToken.Scope",
        "Side": "matches.models.Side",
        "MatchStatus": "matches.models.Match.Status",
        "DepositStatus": "contracts.models.Deposit.Status",
        "WithdrawalStatus": "contracts.models.Withdrawal.Status",
        "Finality": "contracts.models.Chain.Finality",
    },
}

# --- The chain --------------------------------------------------------------------------------
CHAIN_ID = env.int("CHAIN_ID", default=31337)
CHAIN_RPC_URLS = (
    env.list("CHAIN_RPC_URLS", default=["http://127.0.0.1:8545"])
    if DEVELOPMENT
    else env.list("CHAIN_RPC_URLS")
)
# A node that wallets of players may use; those above may have keys in their addresses.
CHAIN_PUBLIC_RPC_URL = env.str(
    "CHAIN_PUBLIC_RPC_URL", default=CHAIN_RPC_URLS[0] if DEVELOPMENT else ""
)
CHAIN_CONFIRMATIONS = env.int("CHAIN_CONFIRMATIONS", default=3 if DEVELOPMENT else 12)
# A node that has not answered by then is as good as down; the next poll asks again.
CHAIN_RPC_TIMEOUT_SECONDS = env.float("CHAIN_RPC_TIMEOUT_SECONDS", default=10)
CHAIN_POLL_SECONDS = env.float("CHAIN_POLL_SECONDS", default=1 if DEVELOPMENT else 5)
# How old the newest block may be; 0 is any age. A chain of development mines when it is asked to.
CHAIN_STILL_SECONDS = env.int("CHAIN_STILL_SECONDS", default=0 if DEVELOPMENT else 1_800)
CHAIN_MAX_BLOCK_RANGE = env.int("CHAIN_MAX_BLOCK_RANGE", default=2_000)
DEPLOYER_PRIVATE_KEY = env.str("DEPLOYER_PRIVATE_KEY", default="")
# Whether a chain that starts over is taken for a new one without an operator's word.
CHAIN_ACCEPT_NEW = env.bool("CHAIN_ACCEPT_NEW", default=DEVELOPMENT)
CREDIT_PRICE_WEI = env.int("CREDIT_PRICE_WEI", default=10**15)
if CHAIN_ID not in TESTNETS and env.str("REAL_MONEY", default="") != REAL_MONEY_CONSENT:
    raise ImproperlyConfigured(
        f"CHAIN_ID {CHAIN_ID} is not a known testnet. This software is made for testnets. If you "
        f"want real money to pass through it, set REAL_MONEY to exactly: {REAL_MONEY_CONSENT!r}"
    )

# --- Withdrawals ------------------------------------------------------------------------------
# What is paid out, as an address; the zero address is the chain's own coin.
WITHDRAWAL_TOKEN = env.str("WITHDRAWAL_TOKEN", default="0x" + 40 * "0")
WITHDRAWAL_MIN_CREDITS = env.int("WITHDRAWAL_MIN_CREDITS", default=1)
WITHDRAWAL_WALLET_DAILY_CREDITS = env.int("WITHDRAWAL_WALLET_DAILY_CREDITS", default=10_000)
# Above this, an operator approves first.
WITHDRAWAL_APPROVAL_CREDITS = env.int("WITHDRAWAL_APPROVAL_CREDITS", default=1_000)
WITHDRAWAL_VOUCHER_SECONDS = env.int("WITHDRAWAL_VOUCHER_SECONDS", default=24 * 3600)
WITHDRAWAL_POLL_SECONDS = env.float("WITHDRAWAL_POLL_SECONDS", default=1 if DEVELOPMENT else 5)
# What can't be signed now is looked at again after this time.
WITHDRAWAL_RETRY_SECONDS = env.float("WITHDRAWAL_RETRY_SECONDS", default=15)
# The signer's own; no other process is given them.
WITHDRAWAL_KEYSTORE = env.str("WITHDRAWAL_KEYSTORE", default="")
WITHDRAWAL_KEYSTORE_PASSWORD = env.str("WITHDRAWAL_KEYSTORE_PASSWORD", default="")

# --- Matches ----------------------------------------------------------------------------------
MATCH_LOCK_SECONDS = env.int("MATCH_LOCK_SECONDS", default=30)
MATCH_REVEAL_SECONDS = env.int("MATCH_REVEAL_SECONDS", default=15)
# A message that is this late is still taken: the network is not the player's fault.
MATCH_GRACE_SECONDS = env.float("MATCH_GRACE_SECONDS", default=1)
# A longer silence of the sweep was an outage, in which nobody could play: deadlines are put off.
MATCH_OUTAGE_SECONDS = env.float("MATCH_OUTAGE_SECONDS", default=15)
MATCH_MAX_REPLACEMENTS = env.int("MATCH_MAX_REPLACEMENTS", default=10)
MATCH_OPEN_SECONDS = env.int("MATCH_OPEN_SECONDS", default=24 * 3600)
MATCH_MAX_LIVE = env.int("MATCH_MAX_LIVE", default=20)
MATCH_MAX_PRACTICE = env.int("MATCH_MAX_PRACTICE", default=3)
MATCH_SWEEP_SECONDS = env.float("MATCH_SWEEP_SECONDS", default=1)
MATCH_RATING_SECONDS = env.float("MATCH_RATING_SECONDS", default=2)
MATCH_MIN_STAKE = env.int("MATCH_MIN_STAKE", default=1)
MATCH_MAX_STAKE = env.int("MATCH_MAX_STAKE", default=1_000_000)
LIVE_STREAMS_PER_WALLET = env.int("LIVE_STREAMS_PER_WALLET", default=20)
LIVE_HEARTBEAT_SECONDS = env.float("LIVE_HEARTBEAT_SECONDS", default=15)
LIVE_STREAM_SECONDS = env.float("LIVE_STREAM_SECONDS", default=3600)
HOUSE_FEE_BPS = env.int("HOUSE_FEE_BPS", default=250)
_LEAST = {
    "MATCH_LOCK_SECONDS": 1,
    "MATCH_REVEAL_SECONDS": 1,
    "MATCH_OPEN_SECONDS": 1,
    "MATCH_MIN_STAKE": 1,
    "MATCH_MAX_LIVE": 1,
    "MATCH_GRACE_SECONDS": 0,
    "MATCH_MAX_REPLACEMENTS": 0,
}
for _name, _least in _LEAST.items():
    if globals()[_name] < _least:
        raise ImproperlyConfigured(f"{_name} is {globals()[_name]}; it must be {_least} or more.")
if MATCH_OUTAGE_SECONDS <= 2 * MATCH_SWEEP_SECONDS:
    raise ImproperlyConfigured("MATCH_OUTAGE_SECONDS must be more than two MATCH_SWEEP_SECONDS.")
if not 0 <= HOUSE_FEE_BPS <= 10_000:
    raise ImproperlyConfigured(f"HOUSE_FEE_BPS is {HOUSE_FEE_BPS}; it must be 0 to 10000.")

# --- The ledger's upkeep -----------------------------------------------------------------------
ROLL_UP_SECONDS = env.float("ROLL_UP_SECONDS", default=60)
AUDIT_SECONDS = env.float("AUDIT_SECONDS", default=3600)
FIGURES_SECONDS = env.int("FIGURES_SECONDS", default=300)

# --- Workers ----------------------------------------------------------------------------------
CELERY_BROKER_URL = env.str("CELERY_BROKER_URL", default=VALKEY_URL)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_IGNORE_RESULT = True
# Every task may run twice or never: Postgres decides. So a task is acknowledged when it is done,
# and one whose worker died is given to another.
CELERY_TASK_ACKS_LATE = CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_SOFT_TIME_LIMIT = 120
CELERY_TASK_TIME_LIMIT = 150
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TIMEZONE = "UTC"
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
# The signing key is in one process alone, which does nothing else: `celery worker -Q signer`.
CELERY_TASK_ROUTES = {"contracts.tasks.sign_withdrawals": {"queue": "signer"}}
# A hint that waited longer than this is worth nothing: the next one is already there.
_HINT = {"expires": 30}
CELERY_BEAT_SCHEDULE = {
    "scan chains": {
        "task": "contracts.tasks.scan_chains",
        "schedule": CHAIN_POLL_SECONDS,
        "options": _HINT,
    },
    "sign withdrawals": {
        "task": "contracts.tasks.sign_withdrawals",
        "schedule": WITHDRAWAL_POLL_SECONDS,
        "options": _HINT,
    },
    "give expired withdrawals back": {
        "task": "contracts.tasks.sweep_withdrawals",
        "schedule": 10.0,
        "options": _HINT,
    },
    "note what the vaults hold": {
        "task": "contracts.tasks.note_holdings",
        "schedule": 60.0,
        "options": _HINT,
    },
    "sweep matches": {
        "task": "matches.tasks.sweep_matches",
        "schedule": MATCH_SWEEP_SECONDS,
        "options": _HINT,
    },
    "rate matches": {
        "task": "matches.tasks.rate_matches",
        "schedule": MATCH_RATING_SECONDS,
        "options": _HINT,
    },
    "roll system accounts up": {
        "task": "wallets.tasks.roll_up",
        "schedule": ROLL_UP_SECONDS,
        "options": _HINT,
    },
    "seal days that have ended": {"task": "wallets.tasks.seal_days", "schedule": 600.0},
    "audit": {"task": "bas_site.tasks.run_audit", "schedule": AUDIT_SECONDS},
    "audit from the beginning, at night": {
        "task": "bas_site.tasks.run_audit",
        "schedule": crontab(hour="3", minute="30"),
        "kwargs": {"whole": True},
    },
    "note the house's figures": {
        "task": "bas_site.tasks.note_figures",
        "schedule": float(FIGURES_SECONDS),
    },
    "trace who first paid players who meet often": {
        "task": "bas_site.tasks.trace_funding",
        "schedule": 600.0,
    },
    "forget what has expired": {"task": "wallets.tasks.forget_expired", "schedule": 3600.0},
}

# --- Who is told ------------------------------------------------------------------------------
SENTRY_DSN = env.str("SENTRY_DSN", default="")
OTEL_EXPORTER_OTLP_ENDPOINT = env.str("OTEL_EXPORTER_OTLP_ENDPOINT", default="")

# --- The rest ---------------------------------------------------------------------------------
LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
STATIC_URL = "/static/"
STATIC_ROOT = Path(env.str("STATIC_ROOT", default=str(BASE_DIR / "staticfiles")))
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEVELOPMENT
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}
STATICFILES_DIRS = [("web", BASE_DIR / "web" / "dist")]
WHITENOISE_USE_FINDERS = DEVELOPMENT
# In development a bundle that is built anew is served without a restart.
WHITENOISE_AUTOREFRESH = DEVELOPMENT
# Vite's names have a hash of the content, as those of the manifest storage do.
WHITENOISE_IMMUTABLE_FILE_TEST = r"^/static/web/assets/|\.[0-9a-f]{12}\."
UNFOLD = {
    "SITE_TITLE": "Block Ape Scissors",
    "SITE_HEADER": "Block Ape Scissors",
    "SITE_SYMBOL": "swords",
    "SHOW_HISTORY": True,
    "SITE_FAVICONS": [
        {"rel": "icon", "type": "image/svg+xml", "href": lambda _: static("bas_site/ape.svg")}
    ],
    "SIDEBAR": {
        "show_search": True,
        "command_search": True,
        "navigation": "bas_site.admin.sidebar",
    },
    "ACCOUNT": {
        "navigation": [
            {"title": "Sessions", "link": reverse_lazy("admin:sessions")},
            {"title": "Second factor", "link": reverse_lazy("admin:second_factor")},
        ]
    },
    "COMMAND": {"search_callback": "bas_site.admin.search"},
    "DASHBOARD_CALLBACK": "bas_site.dashboard.dashboard",
    "SHOW_VIEW_ON_SITE": False,
}
LOGGING_CONFIG = "bas_site.logs.configure"
LOG_LEVEL = env.str("LOG_LEVEL", default="INFO")
LOG_JSON = env.bool("LOG_JSON", default=not DEVELOPMENT)
LOGGING = {"level": LOG_LEVEL, "json": LOG_JSON}
DJANGO_STRUCTLOG_CELERY_ENABLED = True
# Tasks come every second, and a hint that has expired is no loss: they are not worth a line each.
DJANGO_STRUCTLOG_CELERY_DEFAULT_LOG_LEVEL = logging.DEBUG
DJANGO_STRUCTLOG_CELERY_TASK_RETRY_LOG_LEVEL = logging.DEBUG
