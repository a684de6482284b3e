"""Tool specs: servers as namespaces, tools, and what each said under every version (catalogue 1.1)."""

from typing import Any, ClassVar, Self

from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import Org, User
from core.db import JsonText

DISPATCHABLE = frozenset({"builtin", "http", "mcp"})
"""The kinds of handlers that Heddle itself can run."""


def no_handler() -> dict[str, Any]:
    """The handler of a tool that is a schema and nothing else."""
    return {"kind": "none"}


class ScopedQuerySet(models.QuerySet[Any]):
    """Scope comes first."""

    def visible_in(self, org_id: int) -> Self:
        """What belongs to an org, and what belongs to everybody."""
        return self.filter(Q(org=org_id) | Q(org=None))


class Kept(models.Model):
    """Who made something and who changed it last, and when; nobody where Heddle itself did."""

    created = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(User, models.PROTECT, null=True, related_name="+")
    modified = models.DateTimeField(default=timezone.now)
    modified_by = models.ForeignKey(User, models.PROTECT, null=True, related_name="+")

    class Meta:
        abstract = True

    @property
    def audit(self) -> dict[str, Any]:
        """The four as every record of the wire tells them."""
        return {
            "created": self.created,
            "created_by": self.created_by and self.created_by.email,
            "modified": self.modified,
            "modified_by": self.modified_by and self.modified_by.email,
        }

    def changed_by(self, user_id: int | None) -> None:
        """Note who changes it, now; the caller saves it."""
        self.modified, self.modified_by_id = timezone.now(), user_id


class ToolServer(Kept):
    """A namespace of tools, made by the first import into it. One without an org belongs to everybody, read-only."""

    org = models.ForeignKey(Org, models.PROTECT, null=True, related_name="tool_servers")
    name = models.CharField(max_length=64)
    folded = models.CharField(max_length=64, help_text="the name with - as _, under which it is found and unique")
    description = models.TextField(default="")
    version = models.CharField(max_length=64, default="1.0.0")
    capabilities = JsonText(default=list)
    source_dialect = models.CharField(max_length=20)

    objects: ClassVar = ScopedQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            # NULLs are distinct from each other, so a builtin name needs a rule of its own.
            models.UniqueConstraint(fields=["org", "folded"], name="tool_server_in_org"),
            models.UniqueConstraint(fields=["folded"], condition=Q(org=None), name="tool_server_builtin"),
        ]

    def __str__(self) -> str:
        return self.name


class Tool(Kept):
    """A tool: what may change in place. What it says stands in its versions.

    `source_dialect`, `search` and `is_dispatchable` are copies for the list's filters: the dialect of the present
    version, the case-folded name, description and tags, and whether the handler is one that Heddle can run.
    `spelled_out` is what the source said of unversioned fields though it need not have: by dialect, like the extras.
    """

    org = models.ForeignKey(Org, models.PROTECT, null=True, related_name="tools")
    server = models.ForeignKey(ToolServer, models.CASCADE, related_name="tools")
    name = models.CharField(max_length=128)
    qualified_name = models.CharField(max_length=194)
    version = models.PositiveIntegerField(default=1)
    tags = JsonText(default=list)
    visible = models.BooleanField(default=True)
    deprecated = models.BooleanField(default=False)
    deprecation_message = models.TextField(null=True)  # noqa: DJ001 - null is "none given" on the wire too
    spelled_out = JsonText(default=dict)
    handler = JsonText(default=no_handler)
    is_dispatchable = models.BooleanField(default=False)
    source_dialect = models.CharField(max_length=20)
    search = models.TextField(default="")

    objects: ClassVar = ScopedQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["server", "name"], name="tool_name_in_server")]
        indexes: ClassVar = [
            # The list of an org, by qualified name: a page finds its rows in the index alone.
            models.Index(fields=["org", "qualified_name"], name="tool_list"),
        ]

    def __str__(self) -> str:
        return self.qualified_name

    @property
    def is_only_simulated(self) -> bool:
        """Whether nothing runs it, so that a real call of it fails."""
        return bool(self.handler == no_handler())

    def run_by(self, handler: dict[str, Any]) -> None:
        """Say who runs it; the caller saves it."""
        self.handler, self.is_dispatchable = handler, handler["kind"] in DISPATCHABLE


class ToolVersion(models.Model):
    """What a tool says under a number. A row never changes; `spec_hash` is over everything versioned."""

    tool = models.ForeignKey(Tool, models.CASCADE, related_name="versions")
    version = models.PositiveIntegerField()
    declared_version = models.TextField(null=True)  # noqa: DJ001 - null is "none declared" on the wire too
    description = models.TextField(default="")
    input_schema = JsonText()
    output_schema = JsonText(null=True)
    idempotent = models.BooleanField(default=False)
    annotations = JsonText()
    param_order = JsonText(default=list)
    category = models.TextField(null=True)  # noqa: DJ001 - null is "none" on the wire too
    source_dialect = models.CharField(max_length=20)
    extras = JsonText(default=dict)
    spec_hash = models.CharField(max_length=71)
    created = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(User, models.PROTECT, null=True, related_name="+")

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["tool", "version"], name="tool_version_once")]

    def __str__(self) -> str:
        return f"{self.tool_id} v{self.version}"
