"""Python's parser while other code parses as well."""

import ast
import gc
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from core import syntax

TEXT = "\n".join(
    f"def f{number}(a, b=[{number}, 2]):\n    return {{'a': a + {number}, 'b': [b, (a, b)]}}" for number in range(200)
)


@contextmanager
def parsing_collector() -> Iterator[None]:
    """Garbage is collected all the time, and each time something else parses, as a printed traceback does."""

    def parse(phase: str, info: dict) -> None:
        ast.parse("[1, [2, [3]]]", mode="eval")

    before = gc.get_threshold()
    gc.collect()
    gc.callbacks.append(parse)
    gc.set_threshold(50)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(parse)


def test_a_collection_does_not_break_a_parse():
    """The tree is whole, whatever the collection of garbage runs meanwhile."""
    with parsing_collector():
        tree = syntax.module(TEXT)
    assert len(tree.body) == 200


def test_a_collection_does_not_break_an_expression():
    """The same of a single expression."""
    with parsing_collector():
        tree = syntax.expression(f"[{', '.join(f'[{number}, (a, b)]' for number in range(500))}]")
    assert isinstance(tree, ast.List)


@pytest.mark.parametrize("collects", [True, False])
def test_collecting_goes_on_as_before(collects):
    """Whether garbage is collected is the same after a parse, also after one that failed."""
    if not collects:
        gc.disable()
    try:
        with pytest.raises(SyntaxError):
            syntax.module("def (")
        syntax.expression("1")
        assert gc.isenabled() is collects
    finally:
        gc.enable()
