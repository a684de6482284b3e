"""Runs that wait have no thread yet; what a run took stands with it. Rows and tables are changed in two transactions."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('feedback', '0014_batches'),
        ('threads', '0008_rerun'),
    ]

    operations = [
        migrations.AlterField('checkrun', 'batch', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='runs', to='feedback.checkbatch')),
        migrations.RemoveField('checkrun', 'batch_key'),
        migrations.RemoveField('checkrun', 'skills'),
        migrations.RemoveField('checkrun', 'tools'),
        migrations.RemoveField('checkrun', 'created_by'),
        migrations.AlterField('checkrun', 'fork', models.OneToOneField(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='threads.thread')),
        migrations.AlterField('checkrun', 'model_profile', models.CharField(blank=True, max_length=80)),
        migrations.AddField('checkrun', 'problem', models.CharField(blank=True, max_length=200, default=''), preserve_default=False),
        migrations.AddField('checkrun', 'seconds', models.FloatField(null=True)),
        migrations.AddField('checkrun', 'input_tokens', models.PositiveIntegerField(default=0)),
        migrations.AddField('checkrun', 'output_tokens', models.PositiveIntegerField(default=0)),
        migrations.AddField('checkrun', 'cost', models.DecimalField(decimal_places=10, max_digits=20, null=True)),
    ]
