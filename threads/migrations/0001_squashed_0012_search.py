"""The tables of threads in one go, where there are none yet: the steps that led here take seconds."""

from importlib import import_module

import core.db
import core.ids
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

from core.tables import CreateModels

search = import_module("threads.migrations.0012_search")


class Migration(migrations.Migration):

    replaces = [
        ('threads', '0001_initial'), ('threads', '0002_agents'), ('threads', '0003_turn_figures'), ('threads', '0004_told'), ('threads', '0005_world'), ('threads', '0006_of_org'), ('threads', '0007_own_in_org'), ('threads', '0008_rerun'), ('threads', '0009_goal_tool_name'), ('threads', '0010_turn_waits'), ('threads', '0011_turn_losses'), ('threads', '0012_search'),
    ]

    initial = True

    dependencies = [
        ('accounts', '0001_initial'),
        ('catalogue', '0016_fixture_error'),
    ]

    operations = [
        CreateModels([
            migrations.CreateModel(
                name='Thread',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.CharField(default=core.ids.new_key, editable=False, max_length=64, unique=True)),
                    ('created', models.DateTimeField(default=django.utils.timezone.now)),
                    ('modified', models.DateTimeField(default=django.utils.timezone.now)),
                    ('title', models.CharField(max_length=200, null=True)),
                    ('status', models.CharField(choices=[('not_started', 'Not Started'), ('user_turn', 'User Turn'), ('roboto_turn', 'Roboto Turn'), ('client_tool_turn', 'Client Tool Turn'), ('goals_failed', 'Goals Failed')], max_length=20)),
                    ('visibility', models.CharField(choices=[('private', 'Private'), ('org', 'Org')], default='private', max_length=10)),
                    ('activity', models.CharField(max_length=200, null=True)),
                    ('model_profile', models.CharField(max_length=80, null=True)),
                    ('system_prompt', models.TextField(null=True)),
                    ('client_context', core.db.JsonText(null=True)),
                    ('analysis_scope', core.db.JsonText(null=True)),
                    ('available_skills', core.db.JsonText(null=True)),
                    ('forked_from_message_sequence_num', models.PositiveIntegerField(null=True)),
                    ('created_from_agent_id', models.CharField(max_length=80, null=True)),
                    ('created_from_trigger_id', models.CharField(max_length=80, null=True)),
                    ('origin', models.CharField(max_length=20, null=True)),
                    ('import_id', models.CharField(max_length=200, null=True)),
                    ('metadata', core.db.JsonText(null=True)),
                    ('revision', models.PositiveBigIntegerField(default=0)),
                    ('title_revision', models.PositiveBigIntegerField(default=0)),
                    ('goals_revision', models.PositiveBigIntegerField(default=0)),
                    ('rewind_revision', models.PositiveBigIntegerField(default=0)),
                    ('message_count', models.PositiveIntegerField(default=0)),
                    ('weave', models.CharField(default='', max_length=160)),
                    ('has_error', models.BooleanField(default=False)),
                    ('goal_count', models.PositiveSmallIntegerField(default=0)),
                    ('achieved_goal_count', models.PositiveSmallIntegerField(default=0)),
                    ('last_outcome', models.CharField(default='', max_length=10)),
                    ('created_by', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='threads', to=settings.AUTH_USER_MODEL)),
                    ('forked_from', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='forks', to='threads.thread')),
                    ('org', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='threads', to='accounts.org')),
                    ('world', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='threads', to='catalogue.world')),
                ],
                options={
                    'indexes': [models.Index(fields=['created_by', '-created', '-id'], name='thread_own'), models.Index(fields=['created_by', 'org', '-created', '-id'], name='thread_own_in_org'), models.Index(fields=['org', '-created', '-id'], name='thread_of_org'), models.Index(fields=['org', 'visibility', '-created', '-id'], name='thread_shared'), models.Index(fields=['-created', '-id'], name='thread_all'), models.Index(condition=models.Q(('import_id__isnull', False)), fields=['import_id'], name='thread_import_id')],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('import_id__isnull', False)), fields=('org', 'created_by', 'import_id'), name='thread_import_once')],
                },
            ),
            migrations.CreateModel(
                name='Subject',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('association_id', models.CharField(max_length=200)),
                    ('note', models.CharField(max_length=2000)),
                    ('thread', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='subjects', to='threads.thread')),
                ],
                options={
                    'indexes': [models.Index(fields=['association_id', 'thread'], name='subject_of')],
                    'constraints': [models.UniqueConstraint(fields=('thread', 'association_id'), name='subject_once')],
                },
            ),
            migrations.CreateModel(
                name='Rewind',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('revision', models.PositiveBigIntegerField()),
                    ('from_idx', models.PositiveIntegerField()),
                    ('thread', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rewinds', to='threads.thread')),
                ],
                options={
                    'indexes': [models.Index(fields=['thread', 'revision'], name='rewind_since')],
                },
            ),
            migrations.CreateModel(
                name='Pin',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('pinned_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pins', to=settings.AUTH_USER_MODEL)),
                    ('thread', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pins', to='threads.thread')),
                ],
                options={
                    'indexes': [models.Index(fields=['user', '-pinned_at', '-thread'], name='pin_in_order')],
                    'constraints': [models.UniqueConstraint(fields=('user', 'thread'), name='pin_once')],
                },
            ),
            migrations.CreateModel(
                name='Message',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('idx', models.PositiveIntegerField()),
                    ('role', models.CharField(choices=[('user', 'User'), ('assistant', 'Assistant'), ('roboto', 'Roboto')], max_length=10)),
                    ('status', models.CharField(choices=[('not_started', 'Not Started'), ('generating', 'Generating'), ('completed', 'Completed'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], max_length=12)),
                    ('created', models.DateTimeField(default=django.utils.timezone.now)),
                    ('first_revision', models.PositiveBigIntegerField()),
                    ('revision', models.PositiveBigIntegerField()),
                    ('block_count', models.PositiveIntegerField(default=0)),
                    ('author', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('echo_to', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('thread', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='messages', to='threads.thread')),
                ],
                options={
                    'indexes': [models.Index(fields=['thread', 'revision'], name='message_since')],
                    'constraints': [models.UniqueConstraint(fields=('thread', 'idx'), name='message_place')],
                },
            ),
            migrations.CreateModel(
                name='ClientTool',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=64)),
                    ('description', models.TextField()),
                    ('input_schema', core.db.JsonText()),
                    ('thread', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='client_tools', to='threads.thread')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('thread', 'name'), name='client_tool_once')],
                },
            ),
            migrations.CreateModel(
                name='Block',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('idx', models.PositiveIntegerField()),
                    ('position', models.PositiveIntegerField()),
                    ('revision', models.PositiveBigIntegerField()),
                    ('kind', models.CharField(max_length=16)),
                    ('text', models.TextField(default='')),
                    ('data', core.db.JsonText(null=True)),
                    ('raw', core.db.JsonText(null=True)),
                    ('outcome', models.CharField(default='', help_text='status of a tool result', max_length=10)),
                    ('tool_use_id', models.CharField(max_length=200, null=True)),
                    ('thread', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='blocks', to='threads.thread')),
                ],
                options={
                    'indexes': [models.Index(condition=models.Q(('tool_use_id__isnull', False)), fields=['thread', 'tool_use_id'], name='block_tool_use')],
                    'constraints': [models.UniqueConstraint(fields=('thread', 'idx', 'position'), name='block_place')],
                },
            ),
            migrations.CreateModel(
                name='Turn',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('waiting', 'Waiting'), ('done', 'Done'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='queued', max_length=10)),
                    ('attempt', models.PositiveIntegerField(default=0)),
                    ('worker', models.CharField(default='', max_length=120)),
                    ('lease_until', models.DateTimeField(null=True)),
                    ('queued_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('started_at', models.DateTimeField(null=True)),
                    ('first_text_at', models.DateTimeField(null=True)),
                    ('finished_at', models.DateTimeField(null=True)),
                    ('reprompts', models.PositiveSmallIntegerField(default=0)),
                    ('requests', models.PositiveSmallIntegerField(default=0)),
                    ('retries', models.PositiveSmallIntegerField(default=0)),
                    ('profile', models.CharField(default='', max_length=100)),
                    ('model', models.CharField(default='', max_length=200)),
                    ('input_tokens', models.PositiveIntegerField(default=0)),
                    ('output_tokens', models.PositiveIntegerField(default=0)),
                    ('cost', models.DecimalField(decimal_places=10, max_digits=20, null=True)),
                    ('answer_idx', models.PositiveIntegerField(null=True)),
                    ('error_code', models.CharField(default='', max_length=60)),
                    ('request_hash', models.CharField(default='', max_length=64)),
                    ('requested_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('is_told', models.BooleanField(default=True)),
                    ('replays_calls', models.BooleanField(default=False)),
                    ('waits', core.db.JsonText(default=list)),
                    ('losses', models.PositiveSmallIntegerField(default=0)),
                    ('requested_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('thread', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='turns', to='threads.thread')),
                ],
                options={
                    'indexes': [models.Index(condition=models.Q(('state__in', ('queued', 'running', 'waiting'))), fields=['state', 'lease_until'], name='turn_open')],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('state__in', ('queued', 'running', 'waiting'))), fields=('thread',), name='turn_one_open')],
                },
            ),
            migrations.CreateModel(
                name='Goal',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('goal_type', models.CharField(max_length=40)),
                    ('goal_data', core.db.JsonText()),
                    ('status', models.CharField(choices=[('pending', 'Pending'), ('achieved', 'Achieved'), ('failed', 'Failed')], default='pending', max_length=10)),
                    ('message_sequence_num', models.PositiveIntegerField()),
                    ('created', models.DateTimeField(default=django.utils.timezone.now)),
                    ('concluded_at', models.DateTimeField(null=True)),
                    ('achieve_tool_use_id', models.CharField(max_length=200, null=True)),
                    ('result', core.db.JsonText(null=True)),
                    ('attempt_count', models.PositiveSmallIntegerField(default=0)),
                    ('thread', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='goals', to='threads.thread')),
                    ('turn', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='goals', to='threads.turn')),
                ],
                options={
                    'ordering': ['id'],
                },
            ),
            migrations.CreateModel(
                name='Agent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.CharField(default=core.ids.new_key, editable=False, max_length=26, unique=True)),
                    ('name', models.CharField(max_length=200)),
                    ('description', models.TextField(null=True)),
                    ('request_template', core.db.JsonText()),
                    ('variables', core.db.JsonText(default=list)),
                    ('created', models.DateTimeField(default=django.utils.timezone.now)),
                    ('modified', models.DateTimeField(default=django.utils.timezone.now)),
                    ('created_by', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('modified_by', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('org', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='agents', to='accounts.org')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('org', 'name'), name='agent_name_in_org')],
                },
            ),
            migrations.CreateModel(
                name='Unindexed',
                fields=[
                    ('thread', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='unindexed', serialize=False, to='threads.thread')),
                    ('from_idx', models.PositiveIntegerField()),
                ],
            ),
            migrations.CreateModel(
                name='UsedTool',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('tool_name', models.CharField(max_length=200)),
                    ('failed', models.BooleanField(default=False)),
                    ('thread', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='tools', to='threads.thread')),
                ],
                options={
                    'indexes': [models.Index(fields=['tool_name', '-thread'], name='used_tool_of'), models.Index(condition=models.Q(('failed', True)), fields=['tool_name', '-thread'], name='used_tool_failed')],
                    'constraints': [models.UniqueConstraint(fields=('thread', 'tool_name'), name='used_tool_once')],
                },
            ),
        ]),
        migrations.RunPython(search.make_index, search.drop_index),
    ]
