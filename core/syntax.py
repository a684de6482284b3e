"""Python's own parser, which nothing interrupts.

CPython 3.11 counts the depth of the tree that it builds once for the whole process (see its issue 106905). Collecting
garbage may run code meanwhile, and with it another parse, here or in another thread: printing a traceback parses too.
The first parse then ends in a `SystemError`. So nothing is collected while a tree is made, so that no other
thread can get its turn.
"""

import ast
import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_ours = threading.Lock()


def module(text: str) -> ast.Module:
    """A module's tree; raises what `ast.parse` raises."""
    with _uninterrupted():
        return ast.parse(text)


def expression(text: str) -> ast.expr:
    """An expression's tree; raises what `ast.parse` raises."""
    with _uninterrupted():
        return ast.parse(text, mode="eval").body


@contextmanager
def _uninterrupted() -> Iterator[None]:
    # Under the lock, so that what one thread finds switched off is never what another will switch on again.
    with _ours:
        collects = gc.isenabled()
        gc.disable()
        try:
            yield
        finally:
            if collects:
                gc.enable()
