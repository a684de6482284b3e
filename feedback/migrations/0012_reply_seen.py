"""What a submitter has seen of what they were told. Answers that are there already count as seen."""

from django.db import migrations, models


def fill(apps, schema_editor):
    apps.get_model("feedback", "Reply").objects.update(seen_at=models.F("replied_at"))


class Migration(migrations.Migration):

    dependencies = [
        ('feedback', '0011_presence'),
    ]

    operations = [
        migrations.AddField('reply', 'seen_at', models.DateTimeField(null=True)),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
