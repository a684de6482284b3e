"""docker-compose.yml and .env.example match Heddle's settings and commands."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import get_commands

from config.env import Env

ROOT = Path(__file__).resolve().parents[2]
OWN = ("web", "worker", "beat")


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]


def test_every_process_is_there_watched_and_started_again(services: dict[str, Any]) -> None:
    assert set(services) == {*OWN, "postgres", "redis"}
    for name, service in services.items():
        assert service["healthcheck"]["test"], name
        assert service["restart"] == "unless-stopped", name
    for name in OWN:
        waits = services[name]["depends_on"]
        assert all(waits[each]["condition"] == "service_healthy" for each in ("postgres", "redis")), name


def test_every_setting_it_names_is_one(services: dict[str, Any]) -> None:
    known = {f"HEDDLE_{name.upper()}" for name in Env.model_fields}
    for name in OWN:
        given = {key for key in services[name]["environment"] if key.startswith("HEDDLE_")}
        assert given <= known
        assert services[name]["environment"]["HEDDLE_MODE"] == "production"


def test_what_decides_how_many_turns_run_reaches_the_settings_of_every_process(services: dict[str, Any]) -> None:
    """With only the worker's command line, the pool and the limits derived from it would not change."""
    for name in OWN:
        assert services[name]["environment"]["HEDDLE_TURNS"] == services["worker"]["command"][-1]
        assert "HEDDLE_DATABASE_POOL" in services[name]["environment"]


def test_whatever_stands_beside_it_reaches_every_process_and_the_example_names_all_that_it_asks_for(
    services: dict[str, Any],
) -> None:
    example = (ROOT / ".env.example").read_text()
    written = dict(line.split("=", 1) for line in example.splitlines() if "=" in line and not line.startswith("#"))
    asked = set(re.findall(r"\$\{(\w+)", (ROOT / "docker-compose.yml").read_text()))
    assert asked == set(written)
    assert all(services[name]["env_file"] == ".env" for name in OWN)
    # Compose takes a remark behind an empty value for the value.
    assert not [line for line in example.splitlines() if not line.startswith("#") and "#" in line]


def test_a_worker_and_the_clock_are_watched_by_what_they_do(services: dict[str, Any]) -> None:
    for name in ("worker", "beat"):
        assert services[name]["healthcheck"]["test"][-2:] == ["healthy", f"--{name}"]
        assert services[name]["healthcheck"]["interval"]


def test_its_commands_are_the_products_own(services: dict[str, Any]) -> None:
    for name in OWN:
        for command in (services[name]["command"], services[name]["healthcheck"]["test"][1:]):
            if command[1] == "manage.py":
                assert command[2] in get_commands()
            elif command[0] == "celery":
                assert command[1:3] == ["-A", "config.celery"]
            else:
                assert "/readyz" in command[-1]


def test_what_has_to_stay_is_on_a_volume(services: dict[str, Any]) -> None:
    kept = {name: service["volumes"][0] for name, service in services.items() if "volumes" in service}
    assert kept == {"web": "static:/data", "postgres": "database:/var/lib/postgresql/data", "redis": "queue:/data"}
