import core.db
from core.canonical import fingerprint
from django.db import migrations

VERSIONED = (
    "declared_version", "description", "input_schema", "output_schema", "idempotent", "annotations", "param_order",
    "category", "source_dialect", "extras",
)  # fmt: skip
KEYS = {"mcp": ("heddle/visible", "heddle/tags"), "ctp": ("deprecated", "deprecationMessage")}


def move(apps, schema_editor):
    """What a source said of unversioned fields leaves the versions, so that their hashes are those of a new import."""
    versions = apps.get_model("catalogue", "ToolVersion").objects.filter(source_dialect__in=KEYS)
    for version in versions.select_related("tool").iterator(500):
        dialect = version.source_dialect
        extras = dict(version.extras.get(dialect, {}))
        said = extras.pop("_meta", None) if dialect == "mcp" else extras
        if not isinstance(said, dict):
            continue
        kept = {key: value for key, value in said.items() if key not in KEYS[dialect]}
        spelled = {key: value for key, value in said.items() if key in KEYS[dialect]}
        if kept and not spelled:
            continue
        if dialect == "mcp":
            extras |= {"_meta": kept} if kept else {}
            spelled = {"_meta": spelled}
        else:
            extras = kept
        version.extras = {dialect: extras} if extras else {}
        version.spec_hash = fingerprint({name: getattr(version, name) for name in VERSIONED})
        version.save(update_fields=["extras", "spec_hash"])
        if version.version == version.tool.version:
            version.tool.spelled_out = {dialect: spelled}
            version.tool.save(update_fields=["spelled_out"])


class Migration(migrations.Migration):

    dependencies = [
        ('catalogue', '0019_world_revision'),
    ]

    operations = [
        migrations.AddField(
            model_name='tool',
            name='spelled_out',
            field=core.db.JsonText(default=dict),
        ),
        migrations.RunPython(move, migrations.RunPython.noop, elidable=True),
    ]
