from django.db import migrations

# A rating of a message that calls a tool is digested again: the result, which is in the next message, was not read.
AGAIN = """
    INSERT INTO feedback_undigested (feedback_id)
    SELECT f.id FROM feedback_userfeedback f WHERE EXISTS (
        SELECT 1 FROM threads_block b
        WHERE b.thread_id = f.thread_id AND b.idx = f.message_sequence_num AND b.kind = 'tool_use'
    )
    ON CONFLICT DO NOTHING
"""


class Migration(migrations.Migration):

    dependencies = [
        ('feedback', '0019_batch_prompt'),
    ]

    operations = [
        migrations.RunSQL(AGAIN, migrations.RunSQL.noop),
    ]
