"""The tables of feedback in one go, where there are none yet: the steps that led here take seconds."""

from importlib import import_module

import core.db
import core.ids
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

from core.tables import CreateModels


search = import_module("feedback.migrations.0003_search")


class Migration(migrations.Migration):

    replaces = [
        ('feedback', '0001_initial'), ('feedback', '0002_desk'), ('feedback', '0003_search'), ('feedback', '0004_indexed'), ('feedback', '0005_webhooks'), ('feedback', '0006_insight'), ('feedback', '0007_tally'), ('feedback', '0008_untallied'), ('feedback', '0009_webhook_settled'), ('feedback', '0010_due'), ('feedback', '0011_presence'), ('feedback', '0012_reply_seen'), ('feedback', '0013_checks'), ('feedback', '0014_batches'), ('feedback', '0015_runs_wait'), ('feedback', '0016_webhook_told'), ('feedback', '0017_bulk_as_wanted'),
    ]

    initial = True

    dependencies = [
        ('accounts', '0001_initial'),
        ('threads', '0001_squashed_0012_search'),
    ]

    operations = [
        CreateModels([
            migrations.CreateModel(
                name='UserFeedback',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.CharField(default=core.ids.new_key, editable=False, max_length=26, unique=True)),
                    ('message_sequence_num', models.PositiveIntegerField()),
                    ('created', models.DateTimeField(default=django.utils.timezone.now)),
                    ('modified', models.DateTimeField(default=django.utils.timezone.now)),
                    ('sentiment', models.CharField(choices=[('positive', 'Positive'), ('negative', 'Negative')], max_length=10)),
                    ('categories', core.db.JsonText(default=list)),
                    ('category_bits', models.PositiveIntegerField(default=0)),
                    ('notes', models.TextField(null=True)),
                    ('admin_label', models.CharField(max_length=200, null=True)),
                    ('admin_note', models.TextField(null=True)),
                    ('resolved', models.BooleanField(default=False)),
                    ('resolved_at', models.DateTimeField(null=True)),
                    ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='feedback', to=settings.AUTH_USER_MODEL)),
                    ('modified_by', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('org', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='feedback', to='accounts.org')),
                    ('owned_by', models.ForeignKey(db_index=False, editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('resolved_by', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('thread', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='feedback', to='threads.thread')),
                ],
                options={
                    'indexes': [models.Index(fields=['resolved', '-id'], name='feedback_state'), models.Index(fields=['resolved', 'sentiment', '-id'], name='feedback_state_tone'), models.Index(fields=['sentiment', '-id'], name='feedback_tone'), models.Index(fields=['org', '-id'], name='feedback_org'), models.Index(fields=['created', 'sentiment', 'category_bits', 'resolved', 'resolved_at'], name='feedback_insight'), models.Index(condition=models.Q(('resolved', False)), fields=['created'], name='feedback_waiting'), models.Index(condition=models.Q(('resolved_at__isnull', False)), fields=['resolved_at'], name='feedback_resolved_at'), models.Index(fields=['owned_by', 'resolved', '-id'], name='feedback_owned'), models.Index(condition=models.Q(('modified__gt', models.F('created'))), fields=['modified'], name='feedback_edited'), models.Index(condition=models.Q(('admin_note__isnull', False)), fields=['-id'], name='feedback_noted')],
                    'constraints': [models.UniqueConstraint(fields=('thread', 'message_sequence_num', 'created_by'), name='feedback_once_a_person'), models.CheckConstraint(condition=models.Q(models.Q(('resolved', False), ('resolved_at__isnull', True), ('resolved_by__isnull', True)), models.Q(('resolved', True), ('resolved_at__isnull', False), ('resolved_by__isnull', False)), _connector='OR'), name='feedback_stamped_when_resolved')],
                },
            ),
            migrations.CreateModel(
                name='Retraction',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.CharField(editable=False, max_length=26, unique=True)),
                    ('retracted_at', models.DateTimeField(default=django.utils.timezone.now)),
                ],
            ),
            migrations.CreateModel(
                name='Tally',
                fields=[
                    ('day', models.DateField(primary_key=True, serialize=False)),
                    ('quarters', core.db.JsonText(default=list)),
                    ('counts', core.db.JsonText(default=dict)),
                ],
            ),
            migrations.CreateModel(
                name='Untallied',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('day', models.DateField(db_index=True)),
                ],
            ),
            migrations.CreateModel(
                name='Bulk',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.CharField(default=core.ids.new_key, editable=False, max_length=26, unique=True)),
                    ('verb', models.CharField(max_length=12)),
                    ('arguments', core.db.JsonText(default=dict)),
                    ('query', models.CharField(max_length=2000, null=True)),
                    ('chosen', core.db.JsonText(null=True)),
                    ('below', models.BigIntegerField(null=True)),
                    ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('cancelled', 'Cancelled')], default='queued', max_length=10)),
                    ('total', models.PositiveIntegerField(default=0)),
                    ('done_count', models.PositiveIntegerField(default=0)),
                    ('failed_count', models.PositiveIntegerField(default=0)),
                    ('after', models.BigIntegerField(null=True)),
                    ('undoes', models.CharField(max_length=26, null=True)),
                    ('lease_until', models.DateTimeField(null=True)),
                    ('created', models.DateTimeField(default=django.utils.timezone.now)),
                    ('finished_at', models.DateTimeField(null=True)),
                    ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'indexes': [models.Index(condition=models.Q(('state__in', ('queued', 'running'))), fields=['state', 'lease_until'], name='bulk_open')],
                },
            ),
            migrations.CreateModel(
                name='BulkFailure',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('feedback_key', models.CharField(max_length=26)),
                    ('reason', models.CharField(max_length=300)),
                    ('is_as_wanted', models.BooleanField(default=False, help_text='somebody had already done the same to the report')),
                    ('bulk', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='failures', to='feedback.bulk')),
                ],
            ),
            migrations.CreateModel(
                name='Label',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=60)),
                    ('folded', models.CharField(editable=False, max_length=180, unique=True)),
                    ('description', models.CharField(default='', max_length=200)),
                    ('created', models.DateTimeField(default=django.utils.timezone.now)),
                    ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
            ),
            migrations.CreateModel(
                name='Lease',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('until', models.DateTimeField()),
                    ('feedback', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='leases', to='feedback.userfeedback')),
                    ('holder', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'indexes': [models.Index(fields=['until'], name='lease_until')],
                    'constraints': [models.UniqueConstraint(fields=('feedback', 'holder'), name='lease_once')],
                },
            ),
            migrations.CreateModel(
                name='RatedAnswer',
                fields=[
                    ('feedback', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='answer', serialize=False, to='feedback.userfeedback')),
                    ('model_profile', models.CharField(default='', max_length=100)),
                    ('error_code', models.CharField(default='', max_length=60)),
                ],
                options={
                    'indexes': [models.Index(fields=['model_profile', '-feedback'], name='answer_model'), models.Index(condition=models.Q(('error_code', ''), _negated=True), fields=['error_code', '-feedback'], name='answer_error')],
                },
            ),
            migrations.CreateModel(
                name='Reply',
                fields=[
                    ('feedback', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='reply', serialize=False, to='feedback.userfeedback')),
                    ('public_status', models.CharField(choices=[('received', 'Received'), ('looked_at', 'Looked at'), ('answered', 'Answered')], default='received', max_length=10)),
                    ('public_reply', models.TextField(null=True)),
                    ('replied_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('seen_at', models.DateTimeField(null=True)),
                ],
            ),
            migrations.CreateModel(
                name='Triage',
                fields=[
                    ('feedback', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='triage', serialize=False, to='feedback.userfeedback')),
                    ('outcome', models.CharField(choices=[('fixed', 'Fixed'), ('answered', 'Answered'), ('not_reproduced', 'Not reproduced'), ('as_intended', 'As intended'), ('duplicate', 'Duplicate'), ('noted', 'Noted')], max_length=14, null=True)),
                    ('snoozed_until', models.DateTimeField(null=True)),
                    ('snoozed_until_again', models.BooleanField(default=False)),
                    ('duplicate_of', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='duplicates', to='feedback.userfeedback')),
                    ('owner', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'indexes': [models.Index(condition=models.Q(('snoozed_until__isnull', False)), fields=['snoozed_until', 'feedback'], name='triage_snoozed'), models.Index(condition=models.Q(('snoozed_until_again', True)), fields=['feedback'], name='triage_snoozed_again'), models.Index(condition=models.Q(('outcome__isnull', False)), fields=['outcome', '-feedback'], name='triage_outcome'), models.Index(condition=models.Q(('owner__isnull', False)), fields=['owner', '-feedback'], name='triage_owner')],
                },
            ),
            migrations.CreateModel(
                name='Undigested',
                fields=[
                    ('feedback', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='undigested', serialize=False, to='feedback.userfeedback')),
                ],
            ),
            migrations.CreateModel(
                name='Labelled',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('label', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='labelled', to='feedback.label')),
                    ('feedback', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='labelled', to='feedback.userfeedback')),
                ],
                options={
                    'indexes': [models.Index(fields=['label', '-feedback'], name='labelled_with')],
                    'constraints': [models.UniqueConstraint(fields=('feedback', 'label'), name='labelled_once')],
                },
            ),
            migrations.CreateModel(
                name='RatedTool',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('tool_name', models.CharField(max_length=200)),
                    ('failed', models.BooleanField(default=False)),
                    ('feedback', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='tools', to='feedback.userfeedback')),
                ],
                options={
                    'indexes': [models.Index(fields=['tool_name', '-feedback'], name='rated_tool_of'), models.Index(condition=models.Q(('failed', True)), fields=['tool_name', '-feedback'], name='rated_tool_failed')],
                    'constraints': [models.UniqueConstraint(fields=('feedback', 'tool_name'), name='rated_tool_once')],
                },
            ),
            migrations.CreateModel(
                name='SavedView',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.CharField(default=core.ids.new_key, editable=False, max_length=26, unique=True)),
                    ('name', models.CharField(max_length=60)),
                    ('query', models.CharField(max_length=2000)),
                    ('is_shared', models.BooleanField(default=False)),
                    ('created', models.DateTimeField(default=django.utils.timezone.now)),
                    ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('created_by', 'name'), name='view_once')],
                },
            ),
            migrations.CreateModel(
                name='TriageChange',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('before', core.db.JsonText()),
                    ('after', core.db.JsonText()),
                    ('verb', models.CharField(default='update', max_length=12)),
                    ('action', models.CharField(default=core.ids.new_key, max_length=26)),
                    ('undoes', models.CharField(max_length=26, null=True)),
                    ('actor', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('feedback', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='changes', to='feedback.userfeedback')),
                ],
                options={
                    'ordering': ['id'],
                    'indexes': [models.Index(fields=['action', 'id'], name='change_action'), models.Index(fields=['actor', '-id'], name='change_by'), models.Index(condition=models.Q(('undoes__isnull', False)), fields=['undoes'], name='change_undoes')],
                },
            ),
            migrations.CreateModel(
                name='WebhookEndpoint',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.CharField(default=core.ids.new_key, editable=False, max_length=26, unique=True)),
                    ('url', models.CharField(max_length=2000)),
                    ('description', models.CharField(blank=True, max_length=200)),
                    ('events', core.db.JsonText(default=list)),
                    ('is_enabled', models.BooleanField(default=True)),
                    ('disabled_at', models.DateTimeField(null=True)),
                    ('disabled_reason', models.CharField(blank=True, max_length=200)),
                    ('failing_since', models.DateTimeField(null=True)),
                    ('secret_generation', models.PositiveIntegerField(default=1)),
                    ('overlap_until', models.DateTimeField(help_text='until when the secret before this one signs too', null=True)),
                    ('lease_until', models.DateTimeField(help_text='some worker is sending to it; one at a time does', null=True)),
                    ('created', models.DateTimeField(default=django.utils.timezone.now)),
                    ('modified', models.DateTimeField(default=django.utils.timezone.now)),
                    ('org', models.ForeignKey(help_text='none: every org', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='webhooks', to='accounts.org')),
                    ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='webhooks', to=settings.AUTH_USER_MODEL)),
                ],
            ),
            migrations.CreateModel(
                name='WebhookEvent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.CharField(default=core.ids.new_key, editable=False, max_length=26, unique=True)),
                    ('name', models.CharField(max_length=40)),
                    ('is_triage', models.BooleanField(default=False)),
                    ('at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('due_at', models.DateTimeField()),
                    ('settled_at', models.DateTimeField(null=True)),
                    ('is_told', models.BooleanField(help_text='none until it is settled', null=True)),
                    ('actor', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('report', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='events', to='feedback.userfeedback')),
                ],
                options={
                    'indexes': [models.Index(fields=['settled_at', 'due_at'], name='webhook_event_due'), models.Index(fields=['report', 'id'], name='webhook_event_report')],
                },
            ),
            migrations.CreateModel(
                name='WebhookDelivery',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.CharField(default=core.ids.new_key, editable=False, max_length=26, unique=True)),
                    ('message_id', models.CharField(max_length=40)),
                    ('name', models.CharField(max_length=40)),
                    ('audience', models.CharField(choices=[('triage', 'triage'), ('org', 'org')], max_length=10)),
                    ('body', models.TextField()),
                    ('state', models.CharField(choices=[('pending', 'Pending'), ('delivered', 'Delivered'), ('failed', 'Failed'), ('dropped', 'dropped: its owner may no longer be told')], default='pending', max_length=10)),
                    ('tries', models.PositiveIntegerField(default=0, help_text='since it was queued or replayed last')),
                    ('next_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('created', models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                    ('settled_at', models.DateTimeField(null=True)),
                    ('endpoint', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='feedback.webhookendpoint')),
                    ('event', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='feedback.webhookevent')),
                ],
                options={
                    'indexes': [models.Index(condition=models.Q(('state', 'pending')), fields=['next_at'], name='webhook_delivery_due'), models.Index(fields=['settled_at', 'state'], name='webhook_delivery_settled'), models.Index(fields=['endpoint', '-id'], name='webhook_delivery_log')],
                    'constraints': [models.UniqueConstraint(fields=('endpoint', 'event'), name='webhook_told_once')],
                },
            ),
            migrations.CreateModel(
                name='WebhookAttempt',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('milliseconds', models.PositiveIntegerField()),
                    ('status', models.PositiveSmallIntegerField(help_text='none where no answer came', null=True)),
                    ('error', models.CharField(blank=True, max_length=300)),
                    ('response', models.TextField(blank=True, help_text='its beginning')),
                    ('delivery', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='attempts', to='feedback.webhookdelivery')),
                ],
                options={
                    'ordering': ['id'],
                },
            ),
            migrations.CreateModel(
                name='WebhookTold',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('endpoint', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='told', to='feedback.webhookendpoint')),
                    ('report', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='told', to='feedback.userfeedback')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('endpoint', 'report'), name='webhook_told_of')],
                },
            ),
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
        migrations.RunPython(search.make_index, search.drop_index),
    ]
