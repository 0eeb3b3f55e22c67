from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("wallets", "0001_initial")]

    operations = [
        migrations.RunSQL((SQL / "ledger.sql").read_text(), migrations.RunSQL.noop),
    ]
