"""Several people may have a report open. Leases last two minutes, so those of the old kind are not taken over."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('feedback', '0010_due'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.DeleteModel(name='Lease'),
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
    ]
