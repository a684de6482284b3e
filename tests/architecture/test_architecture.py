"""Rules for the repository: imports, migrations, templates, content of tracked files, locked packages."""

import ast
import io
import re
import shutil
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import models
from django.template import engines
from importlinter.application import use_cases
from importlinter.configuration import configure

from core import problems, syntax

ROOT = Path(__file__).resolve().parents[2]
APPS = ("config", "feedback", "threads", "catalogue", "accounts", "core")
SLOW_LIBRARIES = {"mcp",
    "pydantic_ai", "jsonschema", "referencing", "redis", "psycopg", "anyio", "httpx2", "markdown_it", "nh3", "pygments",
    "celery", "tqdm", "drf_spectacular", "kombu", "granian", "asyncio", "griffe", "regex",
}  # fmt: skip


def tracked() -> list[Path]:
    """All tracked files."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("this is no checkout")
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, check=True
    )
    return [ROOT / name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()]


def texts() -> list[tuple[str, str]]:
    """Path and content of every tracked text file."""
    found = []
    for path in tracked():
        raw = path.read_bytes()
        if b"\0" not in raw[:8000]:
            found.append((str(path.relative_to(ROOT)), raw.decode("utf-8")))
    return found


def sources() -> list[tuple[Path, ast.Module]]:
    """All modules of the apps."""
    paths = (path for app in APPS for path in sorted((ROOT / app).rglob("*.py")) if "migrations" not in path.parts)
    return [(path, syntax.module(path.read_text())) for path in paths]


def test_imports_run_one_way():
    """The contracts of pyproject.toml."""
    configure()
    options = use_cases.read_user_options(config_filename=str(ROOT / "pyproject.toml"))
    use_cases._register_contract_types(options)
    report = use_cases.create_report(options, cache_dir=None)
    assert report.contains_failures is False
    assert report.kept_count >= 3


def test_no_module_imports_itself_by_way_of_others():
    """Between single modules; packages of one app may use each other."""
    graph = grimp.build_graph(*APPS, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert len(imports) > 300
    TopologicalSorter(imports).prepare()  # raises CycleError, with the cycle


def test_nothing_is_imported_inside_of_functions_but_slow_libraries_and_what_loads_them():
    """An import cycle broken by a late import is still a cycle; model clients take half a second to load."""
    found = []
    for path, tree in sources():
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                for node in ast.walk(function):
                    if isinstance(node, ast.Import | ast.ImportFrom):
                        names = (
                            [alias.name for alias in node.names]
                            if isinstance(node, ast.Import)
                            else [node.module or ""]
                        )
                        found += [(f"{path.relative_to(ROOT)}:{node.lineno}", name) for name in names]
    ours = [(place, name) for place, name in found if name.partition(".")[0] in APPS]
    slow = {"core.guarded", "threads.runner", "threads.runner.providers", "threads.runner.providers.streaming"}
    allowed = slow | {"config.celery"}
    late = [(place, name) for place, name in ours if name not in allowed and "/apps.py:" not in place]
    assert late == []
    strange = {name.partition(".")[0] for _, name in found} - SLOW_LIBRARIES - set(APPS)
    assert strange - sys.stdlib_module_names == set()


def test_only_the_one_writer_makes_messages_and_blocks():
    """`Message.objects.create` and the like are only in threads/transcript.py."""
    makers = re.compile(r"\b(Message|Block|Rewind)\.objects\.(create|bulk_create|get_or_create|update_or_create)\b")
    found = {str(path.relative_to(ROOT)) for path, _ in sources() if makers.search(path.read_text())}
    assert found == {"threads/transcript.py"}


@pytest.mark.django_db
def test_every_change_of_a_model_has_its_migration():
    said = io.StringIO()
    call_command("makemigrations", check_changes=True, dry_run=True, stdout=said)
    assert "No changes detected" in said.getvalue()


@pytest.mark.django_db
def test_the_checks_of_the_framework_have_nothing_to_say():
    call_command("check", fail_level="WARNING")


def test_names_in_the_database_are_told_apart_by_both_databases():
    """PostgreSQL cuts names at 63 bytes; Django limits index names to 30."""
    names = [
        each.name
        for model in apps.get_models()
        if model.__module__.partition(".")[0] in APPS
        for each in [*model._meta.indexes, *model._meta.constraints]
    ]
    assert len(names) > 20
    assert len(set(names)) == len(names)
    assert all(len(name) <= 30 for name in names)


OWN_ROWS = ("Pin", "Lease", "Mention", "SavedView")
"""Rows that concern only the user."""


def test_nothing_is_deleted_with_a_person():
    """Deleting a user keeps what they wrote: every reference keeps its row, or loses only the name.

    Rows that concern only the user are deleted with them.
    """
    for model in apps.get_models():
        if model.__module__.partition(".")[0] in ("threads", "feedback"):
            for field in model._meta.get_fields():
                if isinstance(field, models.ForeignKey) and field.related_model.__name__ == "User":
                    kept = field.remote_field.on_delete in (models.PROTECT, models.SET_NULL)
                    assert kept or model.__name__ in OWN_ROWS, f"{model.__name__}.{field.name}"


TEMPLATES = sorted(str(path.relative_to(ROOT / "templates")) for path in (ROOT / "templates").rglob("*.html"))


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_template_compiles(name):
    assert engines["django"].get_template(name)


@pytest.mark.parametrize("name", TEMPLATES)
def test_no_template_trusts_text_or_runs_scripts_of_its_own(name):
    """The Content-Security-Policy forbids them, and all content is untrusted."""
    text = (ROOT / "templates" / name).read_text()
    assert not re.search(r"\|\s*safe\b|autoescape off|mark_safe", text)
    assert not re.search(r"\son[a-z]+\s*=\s*[\"']", text)
    assert not re.search(r"<script(?![^>]*\bsrc=)[^>]*>\s*[^<\s]", text)
    assert "javascript:" not in text
    assert not re.search(r"(src|href|action)=\"(https?:)?//", text)


PATHS = re.compile(r"(?<![\w.])/(work|root|home/\w+|Users/\w+|tmp/\w+)/")
HOSTS = re.compile(
    r"\b(pypi\.org|pythonhosted\.org|npmjs\.(org|com)|unpkg\.com|jsdelivr|cdnjs|"
    r"(?<!no-emit-)index-url|extra-index|--find-links|trusted-host|artifactory|nexus)",
    re.IGNORECASE,
)


def test_no_tracked_file_names_a_package_registry_or_a_place_on_somebodys_machine():
    found = []
    for name, text in texts():
        if name == str(Path(__file__).relative_to(ROOT)):
            continue
        for number, line in enumerate(text.splitlines(), start=1):
            if PATHS.search(line) or HOSTS.search(line):
                found.append(f"{name}:{number}: {line.strip()[:100]}")
    assert found == []


def test_no_tracked_file_holds_a_secret_or_an_unfinished_thought():
    secret = re.compile(r"\bhdl_[\w-]{40,}|-----BEGIN [A-Z ]*PRIVATE KEY|\bsk-[A-Za-z0-9]{20,}")
    doubt = re.compile(r"\b(TODO|FIXME|XXX)\b")
    for name, text in texts():
        if name != str(Path(__file__).relative_to(ROOT)):
            assert not secret.search(text), name
            if name.endswith((".py", ".html", ".css", ".js")):
                assert not doubt.search(text), name


@pytest.mark.parametrize("name", ["base", "dev", "referees", "mcp"])
def test_every_locked_package_has_a_version_and_hashes(name):
    locked = (ROOT / "requirements" / f"{name}.txt").read_text()
    logical = [line for line in locked.replace("\\\n", " ").splitlines() if line and not line.lstrip().startswith("#")]
    assert len(logical) > 20
    for line in logical:
        requirement, *hashes = line.split("--hash=")
        assert re.match(r"[A-Za-z0-9_.\[\],-]+==[^ ]+", requirement), requirement
        assert hashes, f"{requirement} has no hash"
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}\s*", each) for each in hashes)


@pytest.mark.parametrize("name", ["base", "dev", "referees", "mcp"])
def test_everything_asked_for_is_locked(name):
    wanted = set()
    for line in (ROOT / "requirements" / f"{name}.in").read_text().splitlines():
        if match := re.match(r"([A-Za-z0-9_.-]+)", line.partition("#")[0].strip()):
            wanted.add(match[1].lower().replace("_", "-").replace(".", "-"))
    locked = (ROOT / "requirements" / f"{name}.txt").read_text().lower()
    names = {
        each.replace("_", "-").replace(".", "-")
        for each in re.findall(r"^([a-z0-9_.-]+)(?:\[[^\]]*\])?==", locked, re.M)
    }
    assert wanted - {"-r", "-c"} - names == set()


def test_no_selector_makes_the_browser_look_at_everything_again():
    """What follows a `:has()` names an id, an attribute or a class that few have, and `* + *` is written otherwise.

    Whenever one `:has()` may have changed, the browser computes the style of all that follows any of them: each key at
    the desk, of all links and icons. A custom property, set where the `:has()` is, reaches descendants without that.
    """
    seen = 0
    for sheet in sorted((ROOT / "static/css").rglob("*.css")):
        rules = re.sub(r"/\*.*?\*/", "", sheet.read_text(), flags=re.DOTALL)
        for heading in re.findall(r"([^{};]+)\{", rules):
            for selector in [] if "@" in heading else split_outside_brackets(heading.strip(), ","):
                *before, last = split_outside_brackets(selector, " >+~")
                assert "* + *" not in selector, (sheet.name, selector)
                if any(":has(" in each for each in before):
                    seen += 1
                    named = re.sub(r":not\([^()]*\)|:where\(.*\)", "", last)
                    either = re.fullmatch(r":is\((.*)\)", named)
                    for each in split_outside_brackets(either[1], ",") if either else [named]:
                        assert re.search(r"[.#\[]", each), (sheet.name, selector)
                        assert not re.match(r"\.(btn|icon|mark|cut|quiet|rep)\b|\[href", each), (sheet.name, selector)
    assert seen > 10


def test_a_button_of_the_desk_outside_its_form_says_that_it_submits():
    """Otherwise htmx sends the form without the button's name and value: what was asked for."""
    seen = 0
    for template in sorted((ROOT / "templates/feedback").rglob("*.html")):
        for button in re.findall(r"<button\b(?:{%.*?%}|[^>])*>", template.read_text(), re.DOTALL):
            if " form=" in button and " name=" in button:
                seen += 1
                assert 'type="submit"' in button, (template.name, button)
    assert seen > 10


def split_outside_brackets(text, separators):
    """The parts of a selector between any of these, without empty ones."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if depth == 0 and letter in separators:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def test_every_event_that_may_be_looked_for_in_the_log_is_explained():
    logged = re.compile(r'(?:logger\.(?:error|exception|warning)\(|log_refused\(logger, |_done\()\s*"([a-z_.]+)"')
    named = {name for path, _ in sources() for name in logged.findall(path.read_text())}
    explained = (ROOT / "docs/operations.md").read_text()
    assert len(named) > 25
    assert [name for name in sorted(named) if f"`{name}`" not in explained] == []


def test_what_is_said_to_be_kept_without_a_session_is_kept_by_the_scripts():
    """The server knows a field by its name: where one of these names has no draft, the form is sent as a file is."""
    drafts, others = set(), set()
    for path in (ROOT / "templates").rglob("*.html"):
        page = path.read_text()
        for field in re.findall(r"<(?:textarea|input)\b((?:{%.*?%}|{{.*?}}|[^<>])*)>", page, re.DOTALL):
            if name := re.search(r'\bname="([a-z_]+)"', field):
                if "data-draft" in field:
                    drafts.add(name[1])
                elif "multipart/form-data" not in page:
                    others.add(name[1])
    assert drafts - others == problems.KEPT


def test_every_name_of_a_script_is_explained():
    """Each module has a section in docs/scripts.md, which names what the module has and nothing that it has not."""
    explained = re.split(r"^## ", (ROOT / "docs/scripts.md").read_text(), flags=re.MULTILINE)
    sections = {section.split("\n")[0]: section for section in explained[1:]}
    modules = {path.name: path.read_text() for path in (ROOT / "static/js").glob("*.js")}
    assert sorted(sections) == sorted(modules)
    for name, module in modules.items():
        own = names_of_script(module)
        assert len(own) > 3
        assert [each for each in sorted(own) if f"`{each}`" not in sections[name]] == []
        assert [each for each in re.findall(r"`([a-z]\w+)`", sections[name]) if each not in module] == []


def names_of_script(module):
    """The names that a script declares outside of its functions."""
    found = set(re.findall(r"^(?:export )?(?:async )?(?:function|const) (\w+)", module, re.MULTILINE))
    for together in re.findall(r"^(?:const|let) [\[{](.*?)[\]}] =", module, re.MULTILINE):
        found.update(re.findall(r"\w+", together))
    for line in re.findall(r"^let (.*);$", module, re.MULTILINE):
        found.update(each.split("=")[0].strip() for each in re.sub(r"^\[.*?\] = [^,]*, ", "", line).split(","))
    return found
