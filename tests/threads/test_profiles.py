"""One line a profile: what it may say, and what is refused, with a sentence that names the line."""

from decimal import Decimal
from pathlib import Path

import pytest

from threads import profiles


def only(line):
    return profiles.parse([line])[0]


def test_a_line_with_everything_is_read_with_its_types():
    found = only(
        "fast=openai:gpt-5-mini?label=Fast+one&temperature=0.2&max_tokens=2000&timeout=60&retries=1&key_env=MY_KEY"
        "&input_price=0.25&output_price=2"
    )
    assert (found.id, found.label, found.model, found.is_default) == ("fast", "Fast one", "openai:gpt-5-mini", True)
    options = found.options
    assert (options.temperature, options.max_tokens, options.timeout, options.retries) == (0.2, 2000, 60.0, 1)
    assert (options.key_env, options.input_price, options.output_price) == ("MY_KEY", Decimal("0.25"), Decimal("2"))


def test_a_compatible_server_is_an_address_and_a_model_may_be_called_as_it_likes():
    found = only("local=openai:qwen/qwen3:8b?base_url=http://127.0.0.1:9000/v1&key_file=/run/secrets/x")
    assert found.model == "openai:qwen/qwen3:8b"
    assert str(found.options.base_url) == "http://127.0.0.1:9000/v1"
    assert found.options.key_file == Path("/run/secrets/x")


def test_without_options_everything_has_a_default_that_bounds_it():
    options = only("a=anthropic:claude-x").options
    assert (options.timeout, options.retries, options.fallback, options.input_price) == (120, 3, "", None)


def test_the_simulator_is_always_there_and_may_be_as_slow_as_it_is_told():
    *_, last = profiles.parse(["a=openai:x?timeout=5"])
    assert (last.id, last.silence_limit) == ("simulated", None)
    assert only("a=openai:x?timeout=5").silence_limit == 5


def test_fallbacks_may_form_a_chain():
    found = profiles.parse(["a=openai:x?fallback=b", "b=openai:y?fallback=c", "c=anthropic:z"])
    assert [each.options.fallback for each in found] == ["b", "c", "", ""]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["gpt"], "'gpt' must look like name=provider:model"),
        (["a=gpt-5"], "'a=gpt-5' must look like"),
        (["a=openai:x?temperature"], "'a' must look like"),
        (["a=openai:x?temperature=3"], "'a' temperature: Input should be less than or equal to 2"),
        (["a=openai:x?max_tokens=0"], "'a' max_tokens: "),
        (["a=openai:x?timeout=0"], "'a' timeout: "),
        (["a=openai:x?timeout=nan"], "'a' timeout: "),
        (["a=openai:x?retries=11"], "'a' retries: "),
        (["a=openai:x?base_url=nowhere"], "'a' base_url: "),
        (["a=openai:x?base_url=ftp://h/v1"], "'a' base_url: "),
        (["a=openai:x?key_env=two-words"], "'a' key_env: "),
        (["a=openai:x?key_file=keys/x"], "'a' key_file must be an absolute path"),
        (["a=openai:x?key_env=A&key_file=/x"], "'a' key_env and key_file cannot both be set"),
        (["a=openai:x?input_price=1"], "'a' input_price and output_price must both be set"),
        (["a=openai:x?input_price=-1&output_price=1"], "'a' input_price: "),
        (["a=openai:x?colour=red"], "'a' has an unknown option 'colour'; the options are label, base_url"),
        (["a=openai:x?retries=1&retries=2"], "'a' has an option twice"),
        (["a=google:x?base_url=http://h/v1"], "'a' base_url, key_env and key_file are for openai"),
        (["a=foo:x"], "'a' names an unknown provider 'foo'"),
        (["a=opnai:x"], "'a' names an unknown provider 'opnai'; did you mean openai?"),
        (["a=openai:x", "a=openai:y"], "the name 'a' is taken"),
        (["simulated=openai:x"], "the name 'simulated' is taken"),
        (["a=openai:x?fallback=b"], "'a' falls back to 'b', which is not another profile"),
        (["a=openai:x?fallback=simulated"], "'a' falls back to 'simulated', which is not another profile"),
        (["a=openai:x?fallback=a"], "circular fallback: a -> a"),
        (["a=openai:x?fallback=b", "b=openai:y?fallback=c", "c=openai:z?fallback=b"], "circular fallback"),
    ],
)
def test_a_bad_line_is_refused_by_name(lines, said):
    with pytest.raises(ValueError, match=r"^HEDDLE_MODEL_PROFILES: ") as refused:
        profiles.parse(lines)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    "line",
    ["a=openai:x?key=sk-very-secret", "a=openai:x?key_env=sk-very-secret", "a=openai:?key=sk-very-secret",
     "a=openai:x?key_file=sk-very-secret", "a=openai:x?base_url=sk-very-secret", "a=openai:x?sk-very-secret"],
)  # fmt: skip
def test_a_refusal_never_shows_what_may_be_a_key(line):
    with pytest.raises(ValueError, match=r"^HEDDLE_MODEL_PROFILES: ") as refused:
        profiles.parse([line])
    assert "secret" not in str(refused.value)
