from typing import Any

from django.conf import settings
from django.db import migrations, models


def hide_deleted(apps: Any, schema_editor: Any) -> None:
    """A deleted check was told by its time alone."""
    apps.get_model("feedback", "Check").objects.filter(dropped_at__isnull=False).update(is_kept=False)


class Migration(migrations.Migration):

    dependencies = [
        ('feedback', '0027_proof'),
        ('threads', '0015_search_pieces'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name='check',
            name='check_state',
        ),
        migrations.AddField(
            model_name='check',
            name='is_kept',
            field=models.BooleanField(default=True),
        ),
        migrations.AddField(
            model_name='checkrun',
            name='is_alike',
            field=models.BooleanField(null=True),
        ),
        migrations.RunPython(hide_deleted, migrations.RunPython.noop),
        migrations.AddIndex(
            model_name='check',
            index=models.Index(condition=models.Q(('is_kept', True)), fields=['state', '-id'], name='check_kept'),
        ),
    ]
