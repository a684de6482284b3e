"""What was run together becomes a row of its own, so that a run can wait and batches can be compared."""

import core.ids
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


# One for each key that runs share, with the choices of its runs; and what each check came to last.
MAKE_BATCHES = """
INSERT INTO feedback_checkbatch
    ("key", created, created_by_id, skills, tools, model_profile, times, ended_at, asked)
SELECT batch_key, MIN(created), MIN(created_by_id), MIN(skills), MIN(tools), '', 1,
    CASE WHEN COUNT(*) = COUNT(ended_at) THEN MAX(ended_at) END, ''
FROM feedback_checkrun GROUP BY batch_key ORDER BY MIN(id);
UPDATE feedback_checkrun SET batch_id = (SELECT id FROM feedback_checkbatch WHERE "key" = batch_key);
UPDATE feedback_check SET outcome = state WHERE state IN ('passing', 'failing');
"""


class Migration(migrations.Migration):

    dependencies = [
        ('feedback', '0013_checks'),
        ('threads', '0008_rerun'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='CheckBatch',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(default=core.ids.new_key, editable=False, max_length=26, unique=True)),
                ('created', models.DateTimeField(default=django.utils.timezone.now)),
                ('skills', models.CharField(max_length=10)),
                ('tools', models.CharField(max_length=10)),
                ('model_profile', models.CharField(blank=True, max_length=80)),
                ('times', models.PositiveSmallIntegerField(default=1)),
                ('ended_at', models.DateTimeField(null=True)),
                ('asked', models.CharField(blank=True, max_length=80)),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('ended_at__isnull', True)), fields=['id'], name='batch_open')],
            },
        ),
        migrations.AddField('check', 'outcome', models.CharField(blank=True, max_length=10, default=''), preserve_default=False),
        migrations.AddField('check', 'outcome_before', models.CharField(blank=True, max_length=10, default=''), preserve_default=False),
        # Its index goes first: PostgreSQL keeps its name for the one of the new column.
        migrations.AlterField('checkrun', 'batch', models.CharField(max_length=26)),
        migrations.RenameField('checkrun', 'batch', 'batch_key'),
        migrations.AddField('checkrun', 'batch', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='runs', to='feedback.checkbatch')),
        migrations.RunSQL(MAKE_BATCHES, migrations.RunSQL.noop, elidable=True),
    ]
