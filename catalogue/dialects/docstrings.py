"""Docstrings of functions that become tools, by the rules of the SDK (threads spec 6.2, C100).

griffe reads the same style more generously, such as other spellings of headers: a function would describe another tool
here than with the SDK.
"""

import re

_HEADERS = (
    "Args|Arguments|Attributes|Examples?|Hint|Important|Keyword Args|Keyword Arguments|Notes?|Other Parameters|"
    "Parameters|Raises|References|Returns|See Also|Tip|Todo|Warnings?|Warns|Yields"
)
_HEADER = re.compile(rf"(?:{_HEADERS}):\s*")
_ARGS = re.compile(r"Args:\s*")
_PARAMETER = re.compile(r"(\w+)\s*+(?:\([^)]*\)\s*+)?:\s*(.*)")


def read(doc: str) -> tuple[str, dict[str, str]]:
    """The text before the first section, and what `Args:` says of each parameter; `doc` without its indent."""
    lines = doc.splitlines()
    first = next((at for at, line in enumerate(lines) if _HEADER.fullmatch(line)), len(lines))
    begun = next((at for at, line in enumerate(lines) if _ARGS.fullmatch(line)), len(lines))
    return "\n".join(lines[:first]).strip(), _parameters(lines[begun + 1 :])


def _parameters(lines: list[str]) -> dict[str, str]:
    """The first parameter fixes the indent; deeper lines continue it, and any other line ends the section."""
    said: dict[str, list[str]] = {}
    name, indent = "", None
    for line in filter(str.strip, lines):
        depth = len(line) - len(line.lstrip())
        if depth == 0 and _HEADER.fullmatch(line.strip()):
            break
        match = _PARAMETER.fullmatch(line.strip()) if indent in (None, depth) else None
        if match:
            name, indent = match[1], depth
            said[name] = [match[2]]
        elif indent is not None and depth > indent:
            said[name].append(line.strip())
        else:
            break
    joined = {name: " ".join(filter(None, map(str.strip, words))) for name, words in said.items()}
    return {name: text for name, text in joined.items() if text}
