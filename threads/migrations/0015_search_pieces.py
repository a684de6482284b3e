from django.db import migrations

PIECES = """
    ALTER TABLE threads_search
        ADD COLUMN piece smallint NOT NULL DEFAULT 0,
        DROP CONSTRAINT threads_search_pkey,
        ADD PRIMARY KEY (message_id, piece)
"""
# A vector keeps at most 255 positions of a word, or 256 if it was put together of several, and none behind 16,383.
# The positions of such a word do not compress, so that smaller vectors need not be looked into.
MARK = """
    INSERT INTO threads_unindexed (thread_id, from_idx)
    SELECT DISTINCT m.thread_id, 0 FROM threads_search s JOIN threads_message m ON m.id = s.message_id
    WHERE pg_column_size(s.document) > 500 AND EXISTS (
        SELECT 1 FROM unnest(s.document)
        WHERE cardinality(positions) >= 255 OR positions[cardinality(positions)] >= 16383
    )
    ON CONFLICT (thread_id) DO UPDATE SET from_idx = 0
"""


def split(apps, schema_editor):
    """Long messages get several rows on PostgreSQL, whose vectors have limits; FTS5 has none.

    Threads whose vectors reached a limit are indexed again, in the background.
    """
    if schema_editor.connection.vendor != "sqlite":
        for statement in (PIECES, MARK):
            schema_editor.execute(statement)


class Migration(migrations.Migration):

    dependencies = [
        ('threads', '0014_launches'),
    ]

    operations = [
        # Not reversible: the version before holds one row for each message.
        migrations.RunPython(split),
    ]
