import json
import unicodedata

from django.db import migrations

# Numbers that are written small or in a circle, and fractions. Texts with one are indexed again, in the background.
NUMBERS = "".join(chr(code) for code in range(0x80, 0x1F10D) if unicodedata.category(chr(code)) == "No")
# Stored JSON is ASCII.
ESCAPED = "|".join(json.dumps(each)[1:-1].replace("\\", "\\\\") for each in NUMBERS)
SQLITE = """
    INSERT INTO threads_unindexed (thread_id, from_idx)
    SELECT DISTINCT m.thread_id, 0 FROM threads_search_content s JOIN threads_message m ON m.id = s.id
    WHERE coalesce(c0, '') || coalesce(c1, '') || coalesce(c2, '') GLOB %s
    ON CONFLICT (thread_id) DO UPDATE SET from_idx = 0
"""
# Its vectors hold nothing of them, so the texts themselves are looked through; most are told at once to have none.
POSTGRES = r"""
    INSERT INTO threads_unindexed (thread_id, from_idx)
    SELECT DISTINCT thread_id, 0 FROM threads_block
    WHERE octet_length(text) <> char_length(text) AND text ~ %s
        OR strpos(data, '\u') > 0 AND data ~ %s OR strpos(raw, '\u') > 0 AND raw ~ %s
    ON CONFLICT (thread_id) DO UPDATE SET from_idx = 0
"""


def index_anew(apps, schema_editor):
    """The index holds small numbers as their digits, as both databases find them."""
    with schema_editor.connection.cursor() as cursor:
        if schema_editor.connection.vendor == "sqlite":
            cursor.execute(SQLITE, [f"*[{NUMBERS}]*"])
        else:
            cursor.execute(POSTGRES, [f"[{NUMBERS}]", ESCAPED, ESCAPED])


class Migration(migrations.Migration):

    dependencies = [
        ('threads', '0015_search_pieces'),
    ]

    operations = [
        migrations.RunPython(index_anew, migrations.RunPython.noop),
    ]
