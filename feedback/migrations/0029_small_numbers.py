import unicodedata

from django.db import migrations

# Numbers that are written small or in a circle, and fractions. Reports with one are digested again, in the background.
NUMBERS = "".join(chr(code) for code in range(0x80, 0x1F10D) if unicodedata.category(chr(code)) == "No")
SQLITE = """
    INSERT OR IGNORE INTO feedback_undigested (feedback_id)
    SELECT id FROM feedback_search_content
    WHERE coalesce(c0, '') || coalesce(c1, '') || coalesce(c2, '') || coalesce(c3, '') GLOB %s
"""
# Its vectors hold nothing of them, so the texts themselves are looked through.
POSTGRES = """
    INSERT INTO feedback_undigested (feedback_id)
    SELECT id FROM feedback_userfeedback
    WHERE octet_length(notes) <> char_length(notes) AND notes ~ %s
        OR octet_length(admin_note) <> char_length(admin_note) AND admin_note ~ %s
    UNION SELECT feedback_id FROM feedback_comment WHERE text ~ %s
    UNION SELECT f.id FROM feedback_userfeedback f
    JOIN threads_block b ON b.thread_id = f.thread_id AND b.idx = f.message_sequence_num
    WHERE octet_length(b.text) <> char_length(b.text) AND b.text ~ %s
    ON CONFLICT DO NOTHING
"""


def digest_anew(apps, schema_editor):
    """The index holds small numbers as their digits, as both databases find them."""
    with schema_editor.connection.cursor() as cursor:
        if schema_editor.connection.vendor == "sqlite":
            cursor.execute(SQLITE, [f"*[{NUMBERS}]*"])
        else:
            cursor.execute(POSTGRES, [f"[{NUMBERS}]"] * 4)


class Migration(migrations.Migration):

    dependencies = [
        ('feedback', '0028_kept_checks'),
        ('threads', '0016_small_numbers'),
    ]

    operations = [
        migrations.RunPython(digest_anew, migrations.RunPython.noop),
    ]
