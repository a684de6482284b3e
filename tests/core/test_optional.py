"""Libraries that others would load for features that nothing here uses."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.pure
SAID = """
import sys, django
django.setup()
from importlib import import_module
from django.conf import settings
import_module(settings.ROOT_URLCONF)
from core import optional
print(sorted(set(optional._UNUSED) & set(sys.modules)))
import yaml
print(yaml.safe_load("1"))
"""


def test_they_are_not_loaded_and_whoever_needs_one_gets_it(tmp_path):
    env = {key: value for key, value in os.environ.items() if not key.startswith(("DATABASE_", "REDIS_"))}
    env |= {"DJANGO_SETTINGS_MODULE": "config.settings", "HEDDLE_DATA_DIR": str(tmp_path)}
    root = Path(__file__).parents[2]
    ran = subprocess.run([sys.executable, "-c", SAID], cwd=root, env=env, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["[]", "1"]
