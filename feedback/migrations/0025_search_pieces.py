from django.db import migrations

PIECES = """
    ALTER TABLE feedback_search
        ADD COLUMN piece smallint NOT NULL DEFAULT 0,
        DROP CONSTRAINT feedback_search_pkey,
        ADD PRIMARY KEY (feedback_id, piece)
"""
# A vector keeps at most 255 positions of a word, or 256 if it was put together of several, and none behind 16,383.
# The positions of such a word do not compress, so that smaller vectors need not be looked into.
MARK = """
    INSERT INTO feedback_undigested (feedback_id)
    SELECT feedback_id FROM feedback_search
    WHERE pg_column_size(document) > 500 AND EXISTS (
        SELECT 1 FROM unnest(document)
        WHERE cardinality(positions) >= 255 OR positions[cardinality(positions)] >= 16383
    )
    ON CONFLICT DO NOTHING
"""


def split(apps, schema_editor):
    """Long reports get several rows on PostgreSQL, whose vectors have limits; FTS5 has none.

    Reports whose vectors reached a limit are digested again, in the background.
    """
    if schema_editor.connection.vendor != "sqlite":
        for statement in (PIECES, MARK):
            schema_editor.execute(statement)


class Migration(migrations.Migration):

    dependencies = [
        ('feedback', '0024_oldest_secret'),
    ]

    operations = [
        # Not reversible: the version before holds one row for each report.
        migrations.RunPython(split),
    ]
