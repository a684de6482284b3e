"""Static files are collected when the server starts: those of the version that serves, whatever served before."""

import os
from pathlib import Path

import pytest
from django.contrib.staticfiles.storage import staticfiles_storage

from config.management.commands import serve

pytestmark = pytest.mark.pure


@pytest.fixture
def version(tmp_path, settings):
    """`version("one", {"a.css": "..."}, age=3600)`: a checkout with these sources, so many seconds old, serves now."""
    settings.STATIC_ROOT = tmp_path / "collected"
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]

    def checked_out(name: str, files: dict[str, str], *, age: float = 0) -> None:
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        for file, text in files.items():
            (folder / file).write_text(text)
            at = (folder / file).stat().st_mtime - age
            os.utime(folder / file, (at, at))
        settings.STATICFILES_DIRS = [folder]

    return checked_out


def shown(name: str) -> str:
    """What a page that names the file is given."""
    return (Path(staticfiles_storage.location) / staticfiles_storage.url(name).removeprefix("/static/")).read_text()


def test_a_version_whose_files_are_older_than_what_is_collected_serves_its_own(version):
    """An older version, or another checkout, on the data folder of a newer one."""
    version("newer", {"a.css": "a{color:red}"})
    serve._collect_static()
    assert shown("a.css") == "a{color:red}"
    version("older", {"a.css": "a{color:blue}", "b.css": "b{color:blue}"}, age=3600)
    serve._collect_static()
    assert (shown("a.css"), shown("b.css")) == ("a{color:blue}", "b{color:blue}")


def test_what_is_collected_is_not_collected_again(version, monkeypatch):
    version("only", {"a.css": "a{color:red}"})
    serve._collect_static()
    monkeypatch.setattr(serve, "call_command", lambda *_, **__: pytest.fail("collected again"))
    serve._collect_static()


def test_what_pages_of_the_version_before_name_stays(version):
    version("older", {"a.css": "a{color:red}"}, age=3600)
    serve._collect_static()
    before = Path(staticfiles_storage.location) / staticfiles_storage.url("a.css").removeprefix("/static/")
    version("newer", {"a.css": "a{color:blue}"})
    serve._collect_static()
    assert before.read_text() == "a{color:red}" and shown("a.css") == "a{color:blue}"
