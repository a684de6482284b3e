"""The days of the reports that are there already are to be counted."""

from django.db import migrations

DAYS = {"sqlite": "substr(created, 1, 10)", "postgresql": "(created AT TIME ZONE 'UTC')::date"}


def fill(apps, schema_editor):
    day = DAYS[schema_editor.connection.vendor]
    schema_editor.execute(f"INSERT INTO feedback_untallied (day) SELECT DISTINCT {day} FROM feedback_userfeedback")


class Migration(migrations.Migration):

    dependencies = [
        ('feedback', '0007_tally'),
    ]

    operations = [
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
