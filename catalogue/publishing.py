"""Publish Heddle's built-in tools as records visible to all orgs, after each migration (catalogue 6.4)."""

from collections.abc import Iterable
from typing import Any

from django.apps import apps as installed
from django.conf import settings
from django.db import transaction

from catalogue import builtin, demo_tools, importing
from catalogue.dialects.source import param_order
from catalogue.importing import Item
from catalogue.models import Tool, ToolServer
from catalogue.record import Annotations, Content, Imported
from catalogue.spec import ToolSpec

DIALECT = "heddle"
"""The source dialect of built-in tools."""
_DESCRIPTIONS = {"heddle": "Heddle's built-in tools.", "demo": "Tools for trying calls."}


def publish(specs: Iterable[ToolSpec]) -> None:
    """Update the built-in records to these tools: changed ones get a new version, removed ones are deleted."""
    items = [_item(index, spec) for index, spec in enumerate(specs)]
    with transaction.atomic():
        servers = {}
        for name in sorted({item.server for item in items}):
            defaults = {"name": name, "description": _DESCRIPTIONS[name], "source_dialect": DIALECT}
            rows = ToolServer.objects.select_for_update()
            servers[name], _ = rows.get_or_create(org=None, folded=name, defaults=defaults)
        importing.store(None, servers, items, "new_version")
        names = [item.said.name for item in items]
        Tool.objects.filter(org=None).exclude(server__in=servers.values(), name__in=names).delete()
        ToolServer.objects.filter(org=None).exclude(folded__in=servers).delete()


def after_migration(*, apps: Any = installed, **_: Any) -> None:
    """Receiver of `post_migrate`; does nothing if the migration removed the tables."""
    try:
        apps.get_model("catalogue", "ToolVersion")
    except LookupError:
        return
    demo = demo_tools.TOOLS.values() if settings.HEDDLE.has_demo_tools else ()
    publish([*builtin.TOOLS.values(), *demo])


def _item(index: int, spec: ToolSpec) -> Item:
    content = Content(
        description=spec.description,
        input_schema=spec.input_schema,
        output_schema=spec.output_schema,
        idempotent=spec.is_idempotent,
        annotations=Annotations(read_only=spec.is_read_only),
        param_order=param_order(spec.input_schema),
        source_dialect=DIALECT,
    )
    handler = {"kind": "builtin" if spec.run else "none"}
    unversioned = {"visible": spec.is_visible, "tags": list(spec.tags), "handler": handler}
    return Item(index, server=spec.server, found=Imported(spec.name, content, unversioned))
