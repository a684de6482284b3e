"""Django's settings, in the order of its documentation. Values come from `config.env`."""

from datetime import timedelta
from typing import Any

import dj_database_url

from config.env import BASE_DIR, load

ENV = load()

DEBUG = ENV.debug
SECRET_KEY = ENV.signing_key()
ALLOWED_HOSTS = [*ENV.hosts, "127.0.0.1", "localhost", "[::1]"]
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
APPEND_SLASH = False  # a redirect turns the SDK's POST into a GET

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "core",
    "accounts",
    "catalogue",
    "threads",
    "feedback",
    "config",
]

MIDDLEWARE = [
    "core.middleware.requests",
    "core.middleware.security",
    "core.middleware.pages",
    "core.middleware.refusals",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            "loaders": [
                (
                    "django.template.loaders.cached.Loader",
                    ["core.templating.Loader", "django.template.loaders.app_directories.Loader"],
                ),
            ],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.messages.context_processors.messages",
                "accounts.context.viewer",
            ],
        },
    },
]


def _database() -> dict[str, Any]:
    """PostgreSQL through a pool if DATABASE_URL says so, else one SQLite file shared by all threads."""
    if ENV.database_url:
        config: dict[str, Any] = {**dj_database_url.parse(ENV.database_url)}
        if config["ENGINE"].endswith("postgresql"):
            # The pool doubles its pause after each refusal, up to minutes after an outage. When it gives up, the next
            # request makes it connect at once.
            pool = {"min_size": 2, "max_size": ENV.database_pool, "timeout": 10, "reconnect_timeout": 5}
            config["ENGINE"] = "core.postgres"
            # Lets `core.prepared` prepare its statements; Django's own contain their values and never are.
            config["OPTIONS"] = {"prepare_threshold": 5, **config.get("OPTIONS", {}), "pool": pool}
            return config
        config["ENGINE"] = "core.sqlite"
    else:
        ENV.data_dir.mkdir(parents=True, exist_ok=True)
        config = {"ENGINE": "core.sqlite", "NAME": str(ENV.data_dir / "heddle.sqlite3")}
    # IMMEDIATE: a transaction that reads and later writes cannot be upgraded while another one writes, so all of ours
    # wait at their start. Reads that need a consistent view use core.db.snapshot, which takes no lock.
    # A larger checkpoint interval (16 MB) writes pages that change often to the file less often.
    config["OPTIONS"] = {
        "timeout": 20,
        "transaction_mode": "IMMEDIATE",
        "init_command": (
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-4000; PRAGMA mmap_size=0; "
            "PRAGMA temp_store=MEMORY; PRAGMA wal_autocheckpoint=4000"
        ),
    }
    return config


DATABASES = {"default": _database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "accounts.User"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
PASSWORD_HASHERS = ["accounts.hashing.InTurn"]
PLACES = {
    "": ("", "threads:list", "All threads"),
    "threads": ("threads", "threads:list", "All threads"),
    "catalogue": ("catalogue", "catalogue:tools", "Back to the catalogue"),
    "catalogue/worlds": ("catalogue", "catalogue:worlds", "All worlds"),
    "skills": ("catalogue", "catalogue:skills", "All skills"),
    "agents": ("agents", "threads:agents", "All agents"),
    "feedback": ("feedback", "feedback:desk", "Back to the desk"),
    "feedback/checks": ("checks", "feedback:checks", "All checks"),
    "feedback/insight": ("insight", "feedback:insight", "Back to Insight"),
    "settings": ("", "accounts:settings", "Back to the settings"),
    "settings/members": ("", "accounts:members", "All members"),
    "settings/webhooks": ("", "feedback:webhooks", "All webhooks"),
}
"""By path prefix: the item in the app bar, and the list that an error page links to."""
PLACES_OF_ADMINS = {"feedback", "checks", "insight"}
"""Whose lists are for admins: everybody else is led to the first one."""

CACHES = {
    "default": {
        "BACKEND": "core.caching.RedisOrMemory" if ENV.redis_url else "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": ENV.redis_url or "heddle",
        "KEY_PREFIX": ENV.queue_prefix,
        # More entries than passwords can be tried while wrong ones are counted; otherwise tries for made-up addresses
        # would push out the counter of a real one: two at a time for 15 minutes, two entries each. For the in-memory
        # cache only; Redis has its own limits.
        "max_entries": 50_000,
    }
}

SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = int(timedelta(days=14).total_seconds())
SESSION_ENGINE = "django.contrib.sessions.backends.db"
CSRF_COOKIE_HTTPONLY = True
CSRF_USE_SESSIONS = False
CSRF_FAILURE_VIEW = "core.problems.csrf_failed"
CSRF_TRUSTED_ORIGINS = [ENV.address]
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = ENV.https
SECURE_HSTS_SECONDS = int(timedelta(days=365).total_seconds()) if ENV.https else 0
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if ENV.https else None
DATA_UPLOAD_MAX_MEMORY_SIZE = 33 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 2000

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = ENV.data_dir / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "core.static.HashedStorage"},
}
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["accounts.authentication.TokenAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "core.openapi.Operation",
    "EXCEPTION_HANDLER": "core.problems.api_exception",
    "UNAUTHENTICATED_USER": None,
    "UNAUTHENTICATED_TOKEN": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Heddle",
    "DESCRIPTION": "Threads of AI agents, feedback on their answers, and its triage.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "COMPONENT_SPLIT_PATCH": False,
    "SCHEMA_PATH_PREFIX": "/v1",
    "POSTPROCESSING_HOOKS": ["core.openapi.as_sent"],
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"json": {"()": "core.logging.JsonFormatter"}, "text": {"()": "core.logging.TextFormatter"}},
    "filters": {
        "queue": {"()": "core.logging.away", "event": "queue.not_answering"},
        "database": {"()": "core.logging.away", "event": "database.unavailable", "by_reason": False},
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": ENV.log_format}},
    "root": {"handlers": ["stderr"], "level": ENV.log_level},
    "loggers": {
        "django.request": {"level": "CRITICAL"},
        # Requests that it refuses, with their addresses; `request.finished` logs them by route and status.
        "django.security": {"level": "CRITICAL"},
        "celery": {"level": "WARNING"},
        "celery.beat": {"filters": ["queue"]},
        "celery.worker.consumer.consumer": {"filters": ["queue"]},
        "kombu": {"level": "WARNING"},
        "psycopg.pool": {"filters": ["database"]},
        "httpx": {"level": "WARNING"},
        # Clients of model providers: at lower levels they log addresses and whole requests.
        "httpx2": {"level": "WARNING"},
        "openai": {"level": "WARNING"},
        "anthropic": {"level": "WARNING"},
        # It logs what servers send, and raises an exception for every failure anyway.
        "mcp": {"level": "CRITICAL"},
        "client": {"level": "CRITICAL"},
    },
}

# Heddle's own.
HEDDLE = ENV
IMPORT_BODY_BYTES = 32 * 1024 * 1024
# Checking a schema costs a second for half a megabyte, on the thread that serves the request.
TOOL_IMPORT_BYTES = 4 * 1024 * 1024
BODY_BYTES = 16 * 1024 * 1024
# Of a refused body so much is still read, so that the sender gets the response.
DRAINED_BYTES = 4 * BODY_BYTES
TEXT_CHARACTERS = 1_000_000
VERSION = "0.1.0"
