import django.db.models.deletion
from django.db import migrations, models

# Texts of ASCII are found as before; all others are digested again, in the background, and held as they are searched.
SQLITE = """
    INSERT OR IGNORE INTO feedback_undigested (feedback_id)
    SELECT id FROM feedback_search_content
    WHERE coalesce(c0, '') || coalesce(c1, '') || coalesce(c2, '') || coalesce(c3, '') GLOB '*[' || char(128) || '-' || char(1114111) || ']*'
"""
POSTGRES = """
    INSERT INTO feedback_undigested (feedback_id)
    SELECT feedback_id FROM feedback_search WHERE octet_length(document::text) <> char_length(document::text)
    ON CONFLICT DO NOTHING
"""


def make_plain(apps, schema_editor):
    """The index holds no accents, and letters of scripts without spaces as words."""
    schema_editor.execute(SQLITE if schema_editor.connection.vendor == "sqlite" else POSTGRES)


class Migration(migrations.Migration):

    dependencies = [
        ('feedback', '0017_bulk_as_wanted'),
    ]

    operations = [
        migrations.CreateModel(
            name='Reworded',
            fields=[
                ('feedback', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='reworded', serialize=False, to='feedback.userfeedback')),
            ],
        ),
        # Not reversible: the triggers of this version write to the table. PostgreSQL's function `feedback_words` stays,
        # because processes of the version before use it until they are restarted.
        migrations.RunPython(make_plain),
    ]
