"""Figures for operators, in the text format that Prometheus reads."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gauge:
    """A figure that goes up and down, by its labels; without any it has the one that is empty."""

    name: str
    help: str
    values: Mapping[str, float]

    @property
    def text(self) -> str:
        """Its lines."""
        lines = [f"# HELP {self.name} {self.help}", f"# TYPE {self.name} gauge"]
        for labels, value in self.values.items():
            lines.append(f"{self.name}{{{labels}}} {value}" if labels else f"{self.name} {value}")
        return "\n".join(lines) + "\n"
