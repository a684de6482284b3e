"""Python's own parser, for one thread at a time.

CPython 3.11 counts the depth of the tree that it builds once for the whole process (see its issue 106905). If another
thread parses meanwhile, as it may during garbage collection, the first one gets a `SystemError`.
"""

import ast
import threading

_ours = threading.Lock()


def module(text: str) -> ast.Module:
    """A module's tree; raises what `ast.parse` raises."""
    with _ours:
        return ast.parse(text)


def expression(text: str) -> ast.expr:
    """An expression's tree; raises what `ast.parse` raises."""
    with _ours:
        return ast.parse(text, mode="eval").body
