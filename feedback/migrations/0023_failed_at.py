from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('feedback', '0022_comments'),
    ]

    operations = [
        migrations.AddField(
            model_name='webhookendpoint',
            name='failed_at',
            field=models.DateTimeField(help_text='when a message failed last; none once one was delivered', null=True),
        ),
    ]
