from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("threads", "0005_world")]

    operations = [
        migrations.AddIndex(
            model_name="thread",
            index=models.Index(fields=["org", "-created", "-id"], name="thread_of_org"),
        ),
    ]
