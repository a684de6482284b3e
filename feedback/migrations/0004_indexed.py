"""What is there already: its words, its owners, and that its answers are to be looked at. Triggers do the rest."""

from django.db import migrations

SQLITE = "INSERT INTO feedback_search (rowid, notes, note) SELECT id, notes, admin_note FROM feedback_userfeedback"
POSTGRES = """
    INSERT INTO feedback_search (feedback_id, document)
    SELECT id, feedback_words(notes, 'A') || feedback_words(admin_note, 'B') FROM feedback_userfeedback
"""
BOTH = (
    "INSERT INTO feedback_undigested (feedback_id) SELECT id FROM feedback_userfeedback",
    "UPDATE feedback_userfeedback SET owned_by_id = (SELECT owner_id FROM feedback_triage WHERE feedback_id = id) "
    "WHERE id IN (SELECT feedback_id FROM feedback_triage WHERE owner_id IS NOT NULL)",
)


def fill(apps, schema_editor):
    for statement in (SQLITE if schema_editor.connection.vendor == "sqlite" else POSTGRES, *BOTH):
        schema_editor.execute(statement)


def empty(apps, schema_editor):
    for table in ("feedback_search", "feedback_undigested"):
        schema_editor.execute(f"DELETE FROM {table}")


class Migration(migrations.Migration):

    dependencies = [
        ('feedback', '0003_search'),
    ]

    operations = [
        migrations.RunPython(fill, empty),
    ]
