from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('threads', '0017_agent_versions'),
    ]

    operations = [
        migrations.RemoveField('thread', 'activity'),
    ]
