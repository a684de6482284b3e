"""Where the tools of a server live, when they live elsewhere."""

from datetime import datetime

from django.db import models

from catalogue.models.tool import Kept, ToolServer
from core import ids, signing
from core.db import JsonText


class ToolConnection(Kept):
    """How a server's tools are reached. No signing secret is stored: it is derived, see `core.signing`.

    The values of `headers` are kept as they were given, since they have to be sent, and never shown again.
    """

    class Kind(models.TextChoices):
        HTTP = "http"
        MCP = "mcp"

    key = models.CharField(max_length=26, unique=True, default=ids.new_key, editable=False)
    server = models.OneToOneField(ToolServer, models.CASCADE, related_name="connection")
    kind = models.CharField(max_length=4, choices=Kind)
    url = models.CharField(max_length=2000, default="")
    command = models.CharField(max_length=64, default="", help_text="one that the operator has named, instead of a URL")
    headers = JsonText(default=dict)
    dialect = models.CharField(max_length=20, default="plain", help_text="of results that come over HTTP")
    timeout_ms = models.PositiveIntegerField(null=True)
    secret_generation = models.PositiveIntegerField(default=1)
    overlap_until = models.DateTimeField(null=True, help_text="until when older secrets sign too")
    oldest_generation = models.PositiveIntegerField(null=True, help_text="the oldest of these; none: the previous one")
    server_info = JsonText(null=True, help_text="what an MCP server said of itself when it was asked last")
    drift = JsonText(null=True, help_text="what the last refresh found")
    refreshed = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.kind} of {self.server_id}"

    @property
    def rotation(self) -> signing.Rotation:
        """Its secrets."""
        return signing.Rotation(self.secret_generation, self.overlap_until, self.oldest_generation)

    def secrets_at(self, at: datetime) -> list[str]:
        """The secrets that sign at that time, the present one first."""
        return [signing.secret_of("heddle.tools", self.key, each) for each in self.rotation.signing(at)]
