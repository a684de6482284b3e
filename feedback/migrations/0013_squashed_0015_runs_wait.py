"""The tables of checks in one go, where there are none yet."""

import core.db
import core.ids
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

from core.tables import CreateModels


class Migration(migrations.Migration):

    replaces = [('feedback', '0013_checks'), ('feedback', '0014_batches'), ('feedback', '0015_runs_wait')]

    dependencies = [
        ('feedback', '0012_reply_seen'),
        ('threads', '0008_rerun'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        CreateModels([
            migrations.CreateModel(
                name='Check',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.CharField(default=core.ids.new_key, editable=False, max_length=26, unique=True)),
                    ('message_sequence_num', models.PositiveIntegerField()),
                    ('title', models.CharField(max_length=120)),
                    ('expectations', core.db.JsonText(default=list)),
                    ('state', models.CharField(choices=[('untried', 'Untried'), ('running', 'Running'), ('passing', 'Passing'), ('failing', 'Failing'), ('undecided', 'Undecided')], default='untried', max_length=10)),
                    ('outcome', models.CharField(blank=True, max_length=10)),
                    ('outcome_before', models.CharField(blank=True, max_length=10)),
                    ('created', models.DateTimeField(default=django.utils.timezone.now)),
                    ('modified', models.DateTimeField(default=django.utils.timezone.now)),
                    ('dropped_at', models.DateTimeField(null=True)),
                    ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('feedback', models.OneToOneField(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='kept_check', to='feedback.userfeedback')),
                    ('modified_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('thread', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='checks', to='threads.thread')),
                ],
                options={
                    'indexes': [models.Index(condition=models.Q(('dropped_at__isnull', True)), fields=['state', '-id'], name='check_state')],
                },
            ),
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
            migrations.CreateModel(
                name='CheckRun',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.CharField(default=core.ids.new_key, editable=False, max_length=26, unique=True)),
                    ('model_profile', models.CharField(blank=True, max_length=80)),
                    ('skill_versions', core.db.JsonText(default=list)),
                    ('created', models.DateTimeField(default=django.utils.timezone.now)),
                    ('ended_at', models.DateTimeField(null=True)),
                    ('verdict', models.CharField(choices=[('passed', 'Passed'), ('failed', 'Failed'), ('broken', 'Broken')], max_length=10, null=True)),
                    ('findings', core.db.JsonText(default=list)),
                    ('problem', models.CharField(blank=True, max_length=200)),
                    ('seconds', models.FloatField(null=True)),
                    ('input_tokens', models.PositiveIntegerField(default=0)),
                    ('output_tokens', models.PositiveIntegerField(default=0)),
                    ('cost', models.DecimalField(decimal_places=10, max_digits=20, null=True)),
                    ('batch', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='runs', to='feedback.checkbatch')),
                    ('fork', models.OneToOneField(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='threads.thread')),
                    ('judged_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('of', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='runs', to='feedback.check')),
                ],
                options={
                    'indexes': [
                        models.Index(fields=['of', '-id'], name='run_of_check'),
                        models.Index(condition=models.Q(('ended_at__isnull', True)), fields=['id'], name='run_open'),
                    ],
                },
            ),
        ]),
    ]
