"""The tables of the catalogue in one go, where there are none yet: the steps that led here take seconds."""

import catalogue.models.tool
import core.db
import core.ids
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

from core.tables import CreateModels


class Migration(migrations.Migration):

    replaces = [('catalogue', '0001_skills'), ('catalogue', '0002_calls'), ('catalogue', '0010_tools'), ('catalogue', '0011_calls_and_data'), ('catalogue', '0012_tools_elsewhere'), ('catalogue', '0013_worlds'), ('catalogue', '0014_calls_of_tools'), ('catalogue', '0015_clearing')]

    initial = True

    dependencies = [
        ('accounts', '0001_initial'),
    ]

    operations = [
        CreateModels([
            migrations.CreateModel(
                name='DataRef',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('ref_id', models.CharField(max_length=15, unique=True)),
                    ('summary', models.TextField()),
                    ('data', core.db.JsonText()),
                    ('size_bytes', models.PositiveIntegerField()),
                    ('created', models.DateTimeField(default=django.utils.timezone.now)),
                    ('expires_at', models.DateTimeField(db_index=True)),
                    ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('org', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.org')),
                ],
            ),
            migrations.CreateModel(
                name='Skill',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.CharField(default=core.ids.new_key, editable=False, max_length=26, unique=True)),
                    ('accessibility', models.CharField(choices=[('private', 'Private'), ('org', 'Org'), ('org-editable', 'Org Editable')], default='private', max_length=12)),
                    ('name', models.CharField(max_length=120)),
                    ('tags', core.db.JsonText(default=list)),
                    ('created', models.DateTimeField(default=django.utils.timezone.now)),
                    ('modified', models.DateTimeField(default=django.utils.timezone.now)),
                    ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='skills', to=settings.AUTH_USER_MODEL)),
                    ('org', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='skills', to='accounts.org')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(condition=models.Q(('accessibility__in', ['org', 'org-editable'])), fields=('org', 'name'), name='skill_name_in_org'), models.UniqueConstraint(condition=models.Q(('accessibility', 'private')), fields=('created_by', 'name'), name='skill_name_of_author')],
                },
            ),
            migrations.CreateModel(
                name='SkillSubscription',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('ai_version', models.PositiveIntegerField(null=True)),
                    ('subscribed', models.DateTimeField(default=django.utils.timezone.now)),
                    ('skill', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='subscriptions', to='catalogue.skill')),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='skill_subscriptions', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('user', 'skill'), name='skill_subscription_once')],
                },
            ),
            migrations.CreateModel(
                name='SkillVersion',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('version', models.PositiveIntegerField()),
                    ('description', models.CharField(max_length=500)),
                    ('body', models.TextField()),
                    ('relevant_topics', core.db.JsonText(default=list)),
                    ('created', models.DateTimeField(default=django.utils.timezone.now)),
                    ('modified', models.DateTimeField(default=django.utils.timezone.now)),
                    ('skill', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='versions', to='catalogue.skill')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('skill', 'version'), name='skill_version_once')],
                },
            ),
            migrations.CreateModel(
                name='ToolServer',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('created', models.DateTimeField(default=django.utils.timezone.now)),
                    ('modified', models.DateTimeField(default=django.utils.timezone.now)),
                    ('name', models.CharField(max_length=64)),
                    ('folded', models.CharField(help_text='the name with - as _, under which it is found and unique', max_length=64)),
                    ('description', models.TextField(default='')),
                    ('version', models.CharField(default='1.0.0', max_length=64)),
                    ('capabilities', core.db.JsonText(default=list)),
                    ('source_dialect', models.CharField(max_length=20)),
                    ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('modified_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('org', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='tool_servers', to='accounts.org')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('org', 'folded'), name='tool_server_in_org'), models.UniqueConstraint(condition=models.Q(('org', None)), fields=('folded',), name='tool_server_builtin')],
                },
            ),
            migrations.CreateModel(
                name='ToolConnection',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('created', models.DateTimeField(default=django.utils.timezone.now)),
                    ('modified', models.DateTimeField(default=django.utils.timezone.now)),
                    ('key', models.CharField(default=core.ids.new_key, editable=False, max_length=26, unique=True)),
                    ('kind', models.CharField(choices=[('http', 'Http'), ('mcp', 'Mcp')], max_length=4)),
                    ('url', models.CharField(default='', max_length=2000)),
                    ('command', models.CharField(default='', help_text='one that the operator has named, instead of a URL', max_length=64)),
                    ('headers', core.db.JsonText(default=dict)),
                    ('dialect', models.CharField(default='plain', help_text='of results that come over HTTP', max_length=20)),
                    ('timeout_ms', models.PositiveIntegerField(null=True)),
                    ('secret_generation', models.PositiveIntegerField(default=1)),
                    ('overlap_until', models.DateTimeField(help_text='until when the secret before this one signs too', null=True)),
                    ('server_info', core.db.JsonText(help_text='what an MCP server said of itself when it was asked last', null=True)),
                    ('drift', core.db.JsonText(help_text='what the last refresh found', null=True)),
                    ('refreshed', models.DateTimeField(null=True)),
                    ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('modified_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('server', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='connection', to='catalogue.toolserver')),
                ],
                options={
                    'abstract': False,
                },
            ),
            migrations.CreateModel(
                name='Tool',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('created', models.DateTimeField(default=django.utils.timezone.now)),
                    ('modified', models.DateTimeField(default=django.utils.timezone.now)),
                    ('name', models.CharField(max_length=128)),
                    ('qualified_name', models.CharField(max_length=194)),
                    ('version', models.PositiveIntegerField(default=1)),
                    ('tags', core.db.JsonText(default=list)),
                    ('visible', models.BooleanField(default=True)),
                    ('deprecated', models.BooleanField(default=False)),
                    ('deprecation_message', models.TextField(null=True)),
                    ('handler', core.db.JsonText(default=catalogue.models.tool.no_handler)),
                    ('is_dispatchable', models.BooleanField(default=False)),
                    ('source_dialect', models.CharField(max_length=20)),
                    ('search', models.TextField(default='')),
                    ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('modified_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('org', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='tools', to='accounts.org')),
                    ('server', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tools', to='catalogue.toolserver')),
                ],
                options={
                    'indexes': [models.Index(fields=['org', 'qualified_name'], name='tool_list')],
                    'constraints': [models.UniqueConstraint(fields=('server', 'name'), name='tool_name_in_server')],
                },
            ),
            migrations.CreateModel(
                name='ToolVersion',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('version', models.PositiveIntegerField()),
                    ('declared_version', models.TextField(null=True)),
                    ('description', models.TextField(default='')),
                    ('input_schema', core.db.JsonText()),
                    ('output_schema', core.db.JsonText(null=True)),
                    ('idempotent', models.BooleanField(default=False)),
                    ('annotations', core.db.JsonText()),
                    ('param_order', core.db.JsonText(default=list)),
                    ('category', models.TextField(null=True)),
                    ('source_dialect', models.CharField(max_length=20)),
                    ('extras', core.db.JsonText(default=dict)),
                    ('spec_hash', models.CharField(max_length=71)),
                    ('created', models.DateTimeField(default=django.utils.timezone.now)),
                    ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('tool', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='versions', to='catalogue.tool')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('tool', 'version'), name='tool_version_once')],
                },
            ),
            migrations.CreateModel(
                name='World',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.CharField(default=core.ids.new_key, editable=False, max_length=26, unique=True)),
                    ('mode', models.CharField(choices=[('schema_only', 'Schema Only'), ('examples', 'Examples'), ('stateful', 'Stateful')], max_length=12)),
                    ('seed', models.BigIntegerField()),
                    ('seed_given', models.BooleanField()),
                    ('failure_profile', core.db.JsonText(null=True)),
                    ('strict_fixtures', models.BooleanField(default=False)),
                    ('ttl_seconds', models.PositiveIntegerField()),
                    ('step_count', models.PositiveIntegerField(default=0)),
                    ('history', core.db.JsonText(default=list, help_text='the last actions on what it remembers')),
                    ('created', models.DateTimeField(default=django.utils.timezone.now)),
                    ('expires_at', models.DateTimeField()),
                    ('closed_at', models.DateTimeField(null=True)),
                    ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('org', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.org')),
                ],
                options={
                    'indexes': [models.Index(fields=['org', '-id'], name='world_list'), models.Index(fields=['expires_at'], name='world_over')],
                },
            ),
            migrations.CreateModel(
                name='Call',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.CharField(default=core.ids.new_key, editable=False, max_length=26, unique=True)),
                    ('tool_use_id', models.CharField(max_length=80, null=True)),
                    ('attempt', models.PositiveSmallIntegerField()),
                    ('thread_id', models.CharField(max_length=80)),
                    ('server', models.CharField(default='', max_length=64)),
                    ('tool', models.CharField(max_length=200)),
                    ('version', models.PositiveIntegerField()),
                    ('begun', models.DateTimeField(default=django.utils.timezone.now)),
                    ('outcome', models.CharField(choices=[('success', 'Success'), ('error', 'Error'), ('unknown', 'Unknown')], default='', max_length=10)),
                    ('runtime_ms', models.PositiveIntegerField(null=True)),
                    ('arguments', core.db.JsonText(null=True)),
                    ('answer', core.db.JsonText(help_text='the response, as it was given and is given again', null=True)),
                    ('idempotency_key', models.CharField(max_length=200, null=True)),
                    ('fingerprint', models.CharField(default='', help_text='of the request that the key stands for', max_length=71)),
                    ('world_facts', core.db.JsonText(help_text='how the world came to the answer', null=True)),
                    ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('org', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.org')),
                    ('world', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='calls', to='catalogue.world')),
                ],
                options={
                    'indexes': [models.Index(condition=models.Q(('world__isnull', False)), fields=['world', 'id'], name='call_of_world'), models.Index(fields=['org', 'server', 'tool', '-begun'], name='call_of_tool'), models.Index(condition=models.Q(('idempotency_key__isnull', True), ('world__isnull', True)), fields=['begun'], name='call_to_clear')],
                    'constraints': [models.UniqueConstraint(fields=('tool_use_id', 'attempt'), name='call_attempt_once'), models.UniqueConstraint(fields=('org', 'created_by', 'idempotency_key'), name='call_idempotency_key_once')],
                },
            ),
            migrations.CreateModel(
                name='WorldAnswer',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.CharField(max_length=200)),
                    ('fingerprint', models.CharField(max_length=71)),
                    ('answer', core.db.JsonText()),
                    ('world', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='answers', to='catalogue.world')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('world', 'key'), name='world_answer_once')],
                },
            ),
            migrations.CreateModel(
                name='WorldEntity',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('noun', models.CharField(max_length=128)),
                    ('entity_id', models.CharField(max_length=200)),
                    ('data', core.db.JsonText(default=dict)),
                    ('is_dropped', models.BooleanField(default=False)),
                    ('world', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='entities', to='catalogue.world')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('world', 'noun', 'entity_id'), name='world_entity_once')],
                },
            ),
            migrations.CreateModel(
                name='WorldFixture',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('tool', models.CharField(help_text='the folded name of the tool', max_length=194)),
                    ('match', models.CharField(default='', max_length=71)),
                    ('input', core.db.JsonText(null=True)),
                    ('output', core.db.JsonText(null=True)),
                    ('world', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='fixtures', to='catalogue.world')),
                ],
                options={
                    'indexes': [models.Index(fields=['world', 'tool', 'match'], name='world_fixture_of')],
                },
            ),
            migrations.CreateModel(
                name='WorldTool',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('server', models.CharField(default='', max_length=64)),
                    ('name', models.CharField(max_length=128)),
                    ('qualified_name', models.CharField(max_length=194)),
                    ('folded', models.CharField(help_text='under which it is found and unique', max_length=194)),
                    ('version', models.PositiveIntegerField(default=1)),
                    ('description', models.TextField(default='')),
                    ('input_schema', core.db.JsonText()),
                    ('output_schema', core.db.JsonText(null=True)),
                    ('param_order', core.db.JsonText(default=list)),
                    ('idempotent', models.BooleanField(default=False)),
                    ('world', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tools', to='catalogue.world')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('world', 'folded'), name='world_tool_once')],
                },
            ),
            migrations.CreateModel(
                name='DemoCount',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=200)),
                    ('count', models.PositiveIntegerField(default=0)),
                    ('org', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.org')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('org', 'name'), name='demo_count_once')],
                },
            ),
        ]),
    ]
