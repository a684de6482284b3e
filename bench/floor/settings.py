"""Minimal settings: Heddle's database and queue, used as Django and Celery come; no middleware, no apps."""

from config import settings as product

SECRET_KEY = "floor"
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "bench.floor.urls"
_ENGINES = {"core.sqlite": "django.db.backends.sqlite3", "core.postgres": "django.db.backends.postgresql"}
_database = product.DATABASES["default"]
DATABASES = {"default": {**_database, "ENGINE": _ENGINES[_database["ENGINE"]]}}
HEDDLE = product.HEDDLE
USE_TZ = True
USE_I18N = False
LOGGING_CONFIG = None
