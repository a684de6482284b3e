import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import core.ids
from core.tables import CreateModels


class Migration(migrations.Migration):

    dependencies = [
        ('feedback', '0021_revisited'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        CreateModels([
            migrations.CreateModel(
                name='Comment',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.CharField(default=core.ids.new_key, editable=False, max_length=26, unique=True)),
                    ('text', models.TextField()),
                    ('created', models.DateTimeField(default=django.utils.timezone.now)),
                    ('modified', models.DateTimeField(default=django.utils.timezone.now)),
                    ('edited_at', models.DateTimeField(null=True)),
                    ('deleted_at', models.DateTimeField(null=True)),
                    ('author', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('feedback', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='comments', to='feedback.userfeedback')),
                ],
                options={
                    'ordering': ['id'],
                    'indexes': [
                        models.Index(fields=['modified'], name='comment_modified'),
                        models.Index(fields=['author', '-feedback'], name='comment_by'),
                        models.Index(condition=models.Q(('deleted_at__isnull', False)), fields=['deleted_at'], name='comment_deleted'),
                    ],
                },
            ),
            migrations.CreateModel(
                name='Mention',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('is_pending', models.BooleanField(default=True)),
                    ('is_answer', models.BooleanField(default=False)),
                    ('comment', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='mentions', to='feedback.comment')),
                    ('feedback', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='mentions', to='feedback.userfeedback')),
                    ('person', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'indexes': [models.Index(condition=models.Q(('is_pending', True)), fields=['person', '-feedback'], name='mention_pending')],
                    'constraints': [models.UniqueConstraint(fields=('comment', 'person'), name='mention_once')],
                },
            ),
        ]),
    ]
