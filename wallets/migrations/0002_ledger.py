from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("wallets", "0001_initial")]

    operations = [
        migrations.RunSQL((SQL / name).read_text(), migrations.RunSQL.noop)
        for name in ("tables.sql", "ledger.sql", "triggers.sql")
    ]
