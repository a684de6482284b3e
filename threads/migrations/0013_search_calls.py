from django.db import migrations

FORGET = "DROP TABLE threads_search"
SQLITE = "CREATE VIRTUAL TABLE threads_search USING fts5(text, asked, call, tokenize = 'unicode61 remove_diacritics 0')"
POSTGRES = "TRUNCATE threads_search"
MARK = """
    INSERT INTO threads_unindexed (thread_id, from_idx) SELECT id, 0 FROM threads_thread WHERE true
    ON CONFLICT (thread_id) DO UPDATE SET from_idx = 0
"""


def make_anew(apps, schema_editor):
    """The index also holds what tools were sent and returned, and no accents; threads are indexed in the background."""
    for statement in (FORGET, SQLITE) if schema_editor.connection.vendor == "sqlite" else (POSTGRES,):
        schema_editor.execute(statement)
    schema_editor.execute(MARK)


class Migration(migrations.Migration):

    dependencies = [
        ('threads', '0012_search'),
    ]

    operations = [
        migrations.RunPython(make_anew, migrations.RunPython.noop),
    ]
