"""Metrics in the Prometheus text format."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gauge:
    """A gauge: values by label string; an empty string if it has no labels."""

    name: str
    help: str
    values: Mapping[str, float]

    @property
    def text(self) -> str:
        """The gauge in the text format."""
        lines = [f"# HELP {self.name} {self.help}", f"# TYPE {self.name} gauge"]
        for labels, value in self.values.items():
            lines.append(f"{self.name}{{{labels}}} {value}" if labels else f"{self.name} {value}")
        return "\n".join(lines) + "\n"
