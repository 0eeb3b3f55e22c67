"""What the application's own database role may do.

Migrations run as the owner of the tables. The web servers and workers log in as another role
(`DATABASE_APP_ROLE`), to which Postgres grants no way to write the ledger but `ledger_post`.
"""

from typing import Any

from django.conf import settings
from django.db import connections, transaction
from psycopg import sql

READ_ONLY = ("wallets_posting", "wallets_transfer", "wallets_asset", "django_migrations")
INSERT_ONLY = ("wallets_account", "wallets_seal", "wallets_auditrun")
FUNCTIONS = (
    "ledger_post(text[], text[], text[], bigint[], int[], bigint[], numeric[])",
    "ledger_balance(bigint)",
    "ledger_balance_at(bigint, timestamptz)",
    "ledger_roll_up(bigint)",
)


def grant_to_app_role(*, using: str = "default", **_signal: Any) -> None:
    """Grant the application's role what it needs and no more; run after each migration."""
    if not settings.DATABASE_APP_ROLE:
        return
    role = sql.Identifier(settings.DATABASE_APP_ROLE)
    statements = [
        "GRANT USAGE ON SCHEMA public TO {role}",
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}",
        "GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {role}",
        *(f"REVOKE INSERT, UPDATE, DELETE ON {t} FROM {{role}}" for t in READ_ONLY),
        *(f"REVOKE UPDATE, DELETE ON {t} FROM {{role}}" for t in INSERT_ONLY),
        *(f"REVOKE EXECUTE ON FUNCTION {f} FROM PUBLIC" for f in FUNCTIONS),
        *(f"GRANT EXECUTE ON FUNCTION {f} TO {{role}}" for f in FUNCTIONS),
    ]
    # In one transaction: at no moment does the role hold the wide grant without its exceptions.
    with transaction.atomic(using=using), connections[using].cursor() as cursor:
        for statement in statements:
            cursor.execute(sql.SQL(statement).format(role=role))
