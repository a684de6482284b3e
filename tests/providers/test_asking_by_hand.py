"""`manage.py model_profiles`: what is configured, and whether it answers."""

import ast
import inspect
import io
from unittest.mock import Mock

import pytest
from django.core.management import CommandError, call_command
from pydantic_ai.exceptions import UserError
from pydantic_ai.models import infer_model
from pydantic_ai.providers import infer_provider_class

from tests.providers.conftest import line
from tests.providers.wire import MODEL, fails, says
from threads import profiles
from threads.runner.providers import building


def said(*arguments):
    out = io.StringIO()
    call_command("model_profiles", *arguments, stdout=out)
    return out.getvalue()


def test_every_profile_is_listed_without_its_key(provider, configure, monkeypatch):
    configure(line("loop", "openai", provider, fallback="deep", key_env="SOME_KEY"), "deep=anthropic:claude-x")
    for name in ("SOME_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "sk-very-secret")
    assert said().splitlines() == [
        f"loop  openai:{MODEL}  (the default, at 127.0.0.1, falls back to deep)",
        "deep  anthropic:claude-x",
        "simulated  simulated",
    ]


def test_what_a_profile_lacks_is_listed_by_what_to_set(configure, monkeypatch, tmp_path):
    """The packages advise programmers who use them."""
    for name in ("SOME_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "key").touch()
    configure(
        "own=openai:x",
        "named=openai:x?key_env=SOME_KEY",
        f"filed=openai:x?key_file={tmp_path / 'key'}",
        "routed=openrouter:x",
        "local=openai:x?base_url=http://127.0.0.1:9/v1",
    )
    assert said().splitlines()[:-1] == [
        "own  openai:x  (the default, not ready: set OPENAI_API_KEY, or key_env or key_file in HEDDLE_MODEL_PROFILES)",
        "named  openai:x  (not ready: set SOME_KEY)",
        "filed  openai:x  (not ready: key_file is empty)",
        "routed  openrouter:x  (not ready: set OPENROUTER_API_KEY)",
        "local  openai:x  (at 127.0.0.1)",
    ]


def test_one_is_asked_once_and_tells_what_it_took(provider, configure, kind):
    configure(line("loop", kind, provider, input_price=1, output_price=1))
    provider.will(says("I ", "am.", usage=(10, 2)))
    answer, used = said("--ask", "loop").splitlines()
    assert answer == "I am."
    assert used.endswith(f"10 tokens in, 2 out, $0.000012, {MODEL}")


def test_what_is_wrong_is_one_sentence(provider, configure, kind):
    configure(line("loop", kind, provider))
    provider.will(fails(401, "authentication_error"))
    with pytest.raises(CommandError, match="not_authorised: The model provider refused the configured key"):
        said("--ask", "loop")
    assert len(provider.asked) == 1
    with pytest.raises(CommandError, match="no profile nobody"):
        said("--ask", "nobody")


@pytest.mark.parametrize(
    ("more", "cause"),
    [
        ({"key_env": "SOME_KEY"}, "set SOME_KEY"),
        ({}, "set [A-Z]+_API_KEY, or key_env or key_file in HEDDLE_MODEL_PROFILES"),
    ],
)
def test_a_key_that_is_missing_is_named_to_the_operator(provider, configure, kind, monkeypatch, more, cause):
    for name in ("SOME_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    configure(line("loop", kind, provider, **more) if more else f"loop={kind}:{MODEL}")
    with pytest.raises(CommandError, match=f"misconfigured: This model profile is not configured correctly. {cause}$"):
        said("--ask", "loop")
    assert not provider.asked


def test_a_model_that_cannot_be_built_is_a_matter_of_the_configuration(configure, monkeypatch):
    """A line passes the start and its provider's package does not take what it finds: here, an unknown region."""
    monkeypatch.setattr(building, "infer_model", Mock(side_effect=ValueError("there is no such region")))
    configure("loop=groq:x")
    with pytest.raises(CommandError, match=r"^misconfigured: This model profile .* there is no such region$"):
        said("--ask", "loop")


def test_the_providers_that_a_line_may_name_are_those_of_the_package():
    """Ours is a list of its own, because the package takes long to import."""
    tree = ast.parse(inspect.getsource(infer_provider_class))
    cases = [case.pattern for case in ast.walk(tree) if isinstance(case, ast.match_case)]
    named = {node.value for case in cases for node in ast.walk(case) if isinstance(node, ast.Constant)}
    assert {name for name in named if _answers(name)} == profiles.PROVIDERS


def _answers(provider):
    """Whether it has models that answer: some only speak, or only measure texts."""
    try:
        infer_model(f"{provider}:x", lambda _: Mock())
    except UserError as problem:
        return "Unknown model" not in str(problem)
    except Exception:  # its package is not installed, or nothing can be made of a mock
        return True
    return True
