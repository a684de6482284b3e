"""The runner's own prompts to models."""

from collections.abc import Sequence

_REPROMPT = "The turn cannot end yet: "


def instructions(system_prompt: str | None, goals: Sequence[str]) -> str | None:
    """The system prompt with the turn's goals and how to achieve them."""
    parts = [system_prompt] if system_prompt else []
    if goals:
        listed = "\n".join(f"- {goal}" for goal in goals)
        parts.append(f"This turn has goals. Achieve each by calling its tool with a valid input:\n{listed}")
    return "\n\n".join(parts) or None


def reprompt(tool_names: Sequence[str]) -> str:
    """The corrective prompt after an answer that left goals open. It is never stored."""
    return f"{_REPROMPT}call {', '.join(tool_names)} with a valid input first."


def is_reprompt(said: str) -> bool:
    """Whether a prompt is a corrective prompt of the runner."""
    return said.startswith(_REPROMPT)
