from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("feedback", "0009_webhook_settled")]

    operations = [
        migrations.RemoveIndex(model_name="triage", name="triage_snoozed"),
        migrations.AddIndex(
            model_name="triage",
            index=models.Index(
                fields=["snoozed_until", "feedback"],
                condition=models.Q(snoozed_until__isnull=False),
                name="triage_snoozed",
            ),
        ),
        migrations.AddIndex(
            model_name="ratedtool",
            index=models.Index(
                fields=["tool_name", "-feedback"], condition=models.Q(failed=True), name="rated_tool_failed"
            ),
        ),
    ]
