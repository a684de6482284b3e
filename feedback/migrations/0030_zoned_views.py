import re

from django.db import migrations

# A day, month or year of a term without a zone, which meant one of UTC over REST and of its reader in pages.
DATED = re.compile(r"""(?<![\w":])((?:created|resolved|edited):(?!["\s)])[^\s()\[\]"]+)(?![\[\w])""")
AGE = re.compile(r"\d[mhdw](?!\w)")
MAX_LENGTH = 2_000


def zoned(query):
    return DATED.sub(lambda term: term[1] if AGE.search(term[1]) else f"{term[1]}[UTC]", query)


def name_zones(apps, schema_editor):
    """Saved views say whose days they mean, as those do that are saved from now on."""
    views = apps.get_model("feedback", "SavedView").objects
    for view in views.filter(query__regex="(created|resolved|edited):"):
        query = zoned(view.query)
        if query != view.query and len(query) <= MAX_LENGTH:
            views.filter(pk=view.pk).update(query=query)


class Migration(migrations.Migration):

    dependencies = [
        ('feedback', '0029_small_numbers'),
    ]

    operations = [
        migrations.RunPython(name_zones, migrations.RunPython.noop),
    ]
