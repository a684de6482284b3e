"""Settings from the environment: typed, prefixed `HEDDLE_`, read once; invalid ones are refused with a message."""

import difflib
import os
import re
import secrets
import shlex
import sys
import tempfile
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterable, Iterator
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated, Literal, NoReturn, Self
from urllib.parse import urlsplit

import dj_database_url
from pydantic import AliasChoices, Field, PlainValidator, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict, SettingsError

from threads import profiles

DEFAULT_PORT = 8000
SPARE_CONNECTIONS = 2
"""Connections of a worker's pool besides one per turn: for renewing leases and for ending tasks."""
BASE_DIR = Path(__file__).resolve().parent.parent
WEEK, CENTURY = 7 * 24 * 3600, 36_500
"""Upper bounds in seconds and in days. Beyond them dates overflow, and the value was surely a typo."""
Pause = Annotated[float, Field(ge=0, le=WEEK)]
Pauses = Annotated[tuple[Pause, ...], NoDecode, Field(min_length=1)]
Words = Annotated[tuple[str, ...], NoDecode]


def _network(value: str) -> IPv4Network | IPv6Network:
    try:
        return ip_network(value)
    except ValueError:
        raise ValueError(f"{value[:80]!r} is not a network such as 10.20.0.0/16") from None


Networks = Annotated[tuple[Annotated[IPv4Network | IPv6Network, PlainValidator(_network)], ...], NoDecode]

_DJANGO_OPTIONS = frozenset({"assume_role", "isolation_level", "pool", "prepare_threshold", "server_side_binding"})
"""Options of a PostgreSQL URL that Django and the driver read, not libpq."""

_HOST = re.compile(r"\*|\.?[a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[a-f0-9:.]+\]", re.IGNORECASE | re.ASCII)
"""What Django compares with a request's host; a leading dot means all subdomains, `*` any host."""
_FOREIGN_NAMES = re.compile(
    r"HEDDLE_(TEST|BENCH|REQUIRE)_\w+|HEDDLE_TAU_BENCH|HEDDLE_(\w+_)?(SERVICE_HOST|SERVICE_PORT|PORT)\w*"
)
"""Variables of the tests and benchmarks, and those that Kubernetes sets for a service called heddle."""
_UNIT = re.compile(r"_(SECONDS|DAYS|MS)$")
"""How the names of settings end that are lengths of time."""


class Env(BaseSettings):
    """The environment of one Heddle process.

    Any of them may be in a file instead: `HEDDLE_SECRETS_DIR` names a folder with one file per variable.
    """

    model_config = SettingsConfigDict(env_prefix="HEDDLE_", extra="ignore", env_ignore_empty=True, allow_inf_nan=False)

    mode: Literal["local", "production"] = "local"
    debug: bool = False
    secret_key: SecretStr | None = None
    data_dir: Path = BASE_DIR / "var"
    public_url: str = ""
    port: int | None = Field(None, ge=1, le=65535, validation_alias="PORT")
    hosts: Words = ()
    https: bool = False

    database_url: str = Field("", validation_alias=AliasChoices("DATABASE_URL", "HEDDLE_DATABASE_URL"))
    redis_url: str = Field("", validation_alias=AliasChoices("REDIS_URL", "HEDDLE_REDIS_URL"))
    queue_prefix: str = "heddle"
    database_pool: int = Field(16, ge=1, le=500)

    embedded_worker: bool = Field(True, description="run turns inside the server if REDIS_URL is not set")
    threads: int = Field(256, ge=4, le=2000, description="concurrent requests and open event streams")
    turns: int = Field(8, ge=1, le=500, description="concurrent turns per worker")
    check_runs: int = Field(
        4, ge=1, le=500, description="concurrent runs of checks; fewer than turns, so that they do not delay users"
    )
    lease_seconds: float = Field(30, gt=0.2, le=3600)
    heartbeat_seconds: float = Field(8, gt=0.05, le=1800)
    sweep_seconds: float = Field(30, gt=0.2, le=60)
    digest_seconds: float = Field(5, gt=0.2, le=60)
    batch_ms: int = Field(50, ge=1, le=1000)

    allow_private_targets: Networks = Field((), description="private networks that webhooks and tools may connect to")
    allow_http_targets: bool = Field(False, description="allow webhooks and tools without TLS")
    webhook_delay_seconds: float = Field(
        1800, ge=0, le=WEEK, description="undo window: triage events are sent after it"
    )
    webhook_timeout_seconds: float = Field(15, gt=0, le=60)
    webhook_retry_seconds: Pauses = (5, 300, 1800, 7200, 18000, 36000, 36000)
    webhook_disable_days: float = Field(5, gt=0, le=CENTURY)
    webhook_log_days: float = Field(30, gt=0, le=CENTURY)

    call_days: float = Field(90, ge=0, le=CENTURY, description="days to keep records of tool calls; 0: forever")
    world_days: float = Field(30, ge=0, le=CENTURY, description="days to keep expired worlds; 0: forever")
    mcp_commands: Annotated[dict[str, tuple[str, ...]], NoDecode] = Field(
        {}, description="commands that start MCP servers on this machine, by the name that connections use"
    )

    demo_tools: bool | None = Field(None, description="add the catalogue's server `demo`; default: outside production")
    model_profiles: Words = ()
    default_profile: str = ""
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    log_format: Literal["json", "text"] = "json"

    @field_validator("hosts", "model_profiles", "allow_private_targets", "webhook_retry_seconds", mode="before")
    @classmethod
    def _words(cls, value: object) -> object:
        """Split a list at commas or line breaks."""
        if isinstance(value, str):
            return tuple(part.strip() for part in value.replace("\n", ",").split(",") if part.strip())
        return value

    @field_validator("hosts")
    @classmethod
    def _names(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        """Refuse names that no Host header can match: with only those, every request would be refused."""
        for host in value:
            if not _HOST.fullmatch(host):
                raise ValueError(
                    f"{host[:80]!r} is not a host name such as heddle.example.org (no scheme, port or path)"
                )
        return value

    @field_validator("log_level", mode="before")
    @classmethod
    def _any_case(cls, value: object) -> object:
        return value.strip().upper() if isinstance(value, str) else value

    @field_validator("public_url")
    @classmethod
    def _address(cls, value: str) -> str:
        try:
            parts = urlsplit(value)
            is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
            is_alone = parts.path in ("", "/") and not re.search(r"[\s@?#*]", value)
        except ValueError:
            is_address = is_alone = False
        if value and not (is_address and is_alone):
            raise ValueError("must be a URL such as https://heddle.example.org, without path, user or spaces")
        # As browsers send it in `Origin`: lower case, without the scheme's default port.
        return re.sub(r"^(http(?=:.*:80/?$)|https(?=:.*:443/?$))(.*):\d+", r"\1\2", value.lower())

    @field_validator("secret_key")
    @classmethod
    def _key(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and not value.get_secret_value().strip():
            raise ValueError("must not be blank")
        return value

    @field_validator("queue_prefix")
    @classmethod
    def _prefix(cls, value: str) -> str:
        if not re.fullmatch(r"[a-z0-9_-]+", value):
            raise ValueError("must be lower-case letters, digits, - and _")
        return value

    @field_validator("mcp_commands", mode="before")
    @classmethod
    def _commands(cls, value: object) -> object:
        """Parse one `name=command line` per line, quoted as in a shell; no shell runs it."""
        if not isinstance(value, str):
            return value
        found = {}
        for line in filter(None, map(str.strip, value.splitlines())):
            name, _, command = line.partition("=")
            words = shlex.split(command)
            if not words or not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,63}", name.strip()):
                raise ValueError("must have name=command on each line")
            found[name.strip()] = tuple(words)
        return found

    @field_validator("allow_private_targets", mode="before")
    @classmethod
    def _everything(cls, value: object) -> object:
        """Read `true` as every network and `false` as none. It runs before `_words`: the last validator runs first."""
        if isinstance(value, str) and value.strip().lower() in ("true", "false"):
            return ("0.0.0.0/0", "::/0") if value.strip().lower() == "true" else ()
        return value

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if "check_runs" not in self.model_fields_set:
            self.check_runs = max(1, min(self.check_runs, self.turns - 1))
        if mistakes := list(self._mistakes()):
            raise ValueError("\n  ".join(mistakes))
        return self

    def _mistakes(self) -> Iterator[str]:
        """What is wrong about several settings together."""
        if self.heartbeat_seconds * 2 > self.lease_seconds:
            yield "HEDDLE_HEARTBEAT_SECONDS must be at most half of HEDDLE_LEASE_SECONDS, or busy workers lose turns"
        if self.check_runs >= max(self.turns, 2):
            yield f"HEDDLE_CHECK_RUNS must be less than HEDDLE_TURNS ({self.turns}), or checks delay users' turns"
        yield from _mistake_of(profiles.parse, self.model_profiles, self.default_profile)
        if self.mode == "production":
            if self.secret_key is None or len(self.secret_key.get_secret_value().strip()) < 32:
                yield "HEDDLE_SECRET_KEY must be set, with at least 32 characters, in production"
            if not self.hosts:
                yield "HEDDLE_HOSTS must list the host names to serve, in production"
            if self.debug:
                yield "HEDDLE_DEBUG must be off in production: its error pages show code and routes to anyone"
        checks = ((_check_database, self.database_url), (_check_queue, self.redis_url))
        wrong = [mistake for check, url in checks if url for mistake in _mistake_of(check, url)]
        yield from wrong
        if self.database_url.startswith("postgres") and self.turns + SPARE_CONNECTIONS > self.database_pool:
            yield (
                f"HEDDLE_DATABASE_POOL must be at least {SPARE_CONNECTIONS} more than HEDDLE_TURNS "
                f"({self.turns} turns need {self.turns + SPARE_CONNECTIONS} connections), or turns wait for each other"
            )
        if not wrong and bool(self.redis_url) != bool(self.database_url.startswith("postgres")):
            yield "Set both DATABASE_URL (postgresql://...) and REDIS_URL, or neither"

    @property
    def address(self) -> str:
        """The URL of this Heddle: as configured, else where it was last served."""
        if self.public_url or self.port:
            return self.public_url.rstrip("/") or f"http://127.0.0.1:{self.port}"
        return self.last_address or f"http://127.0.0.1:{DEFAULT_PORT}"

    @property
    def last_address(self) -> str:
        """Where this data folder was last served; empty if never."""
        kept = self.data_dir / "address"
        return kept.read_text().strip() if kept.exists() else ""

    def keep_address(self, address: str) -> None:
        """Store where it is served, for commands that run later."""
        self.data_dir.mkdir(parents=True, exist_ok=True)
        (self.data_dir / "address").write_text(address + "\n")

    @property
    def is_embedded(self) -> bool:
        """Whether this is single-process mode: SQLite, in-process queue and notices."""
        return not self.redis_url

    @property
    def has_demo_tools(self) -> bool:
        """Whether the catalogue has the server `demo` (catalogue 6.4)."""
        return self.mode != "production" if self.demo_tools is None else self.demo_tools

    def signing_key(self) -> str:
        """The configured secret key, or a random one that is created once and stored in the data folder."""
        if self.secret_key is not None:
            return self.secret_key.get_secret_value()
        path = self.data_dir / "secret_key"
        if not path.exists():
            self.data_dir.mkdir(parents=True, exist_ok=True)
            draft = path.with_suffix(f".{secrets.token_hex(4)}")
            draft.touch(mode=0o600)
            draft.write_text(secrets.token_urlsafe(48))
            try:
                # link() fails if the file exists, so two processes that start together agree on one key.
                path.hardlink_to(draft)
            except FileExistsError:
                pass
            finally:
                draft.unlink()
        return path.read_text()


def load() -> Env:
    """Read the environment, or exit with one message per mistake."""
    mistakes, env = list(_misspelt(os.environ)), None
    try:
        env = Env(_secrets_dir=_secrets_dir())
    except ValidationError as problem:
        # What is wrong with a part of a list makes the list wrong, too.
        first = {error["loc"][:1]: error for error in reversed(problem.errors(include_input=False))}
        mistakes += [_sentence(error["loc"], error["msg"]) for error in reversed(first.values())]
    except SettingsError as problem:
        mistakes.append(f"HEDDLE_SECRETS_DIR: {problem}: {problem.__cause__}")
    if mistakes or env is None:
        _stop(mistakes)
    if env.is_embedded or env.secret_key is None:
        require_folder(env.data_dir)
    try:
        env.signing_key()
    except OSError as problem:
        _stop([f"HEDDLE_DATA_DIR: {problem.filename} cannot be read ({problem.strerror})"])
    return env


def port_number(text: str) -> int:
    """Parse a port of a command line for `argparse`, by the same rule as `PORT`."""
    if not re.fullmatch(r"\d{1,5}", text, re.ASCII) or not 1 <= int(text) <= 65535:
        raise ArgumentTypeError("must be a number from 1 to 65535")
    return int(text)


def _mistake_of(check: Callable[..., object], *given: object) -> Iterator[str]:
    """What a check refuses with a `ValueError`."""
    try:
        check(*given)
    except ValueError as problem:
        yield str(problem)


def _check_database(url: str) -> None:
    """Raise `ValueError` for a URL that cannot work, without connecting.

    No message shows the URL: it contains a password.
    """
    try:
        found = dj_database_url.parse(url)
    except dj_database_url.UnknownSchemeError:
        found = {}
    except ValueError:
        raise ValueError(
            "DATABASE_URL cannot be parsed: in a user name or password, write @ as %40 and / as %2F"
        ) from None
    name, options = str(found.get("NAME", "")), found.get("OPTIONS", {})
    if found.get("ENGINE") == "django.db.backends.sqlite3":
        # Each connection would get its own, empty database.
        if not name or ":memory:" in name:
            raise ValueError("DATABASE_URL must name a file, as in sqlite:////data/heddle.sqlite3")
        if options:
            raise ValueError("DATABASE_URL takes no options with SQLite")
    elif found.get("ENGINE") == "django.db.backends.postgresql":
        if not name and "service" not in options:
            raise ValueError("DATABASE_URL must name a database: postgresql://user:password@host/name")
        _check_options(options)
    else:
        raise ValueError("DATABASE_URL must begin with postgresql:// (or sqlite:///, without REDIS_URL)")


def _check_options(options: Iterable[str]) -> None:
    import psycopg  # not needed with SQLite

    for option in sorted(set(options) - _DJANGO_OPTIONS):
        try:
            psycopg.conninfo.make_conninfo(**{option: ""})
        except psycopg.ProgrammingError:
            raise ValueError(f"DATABASE_URL has an option {option[:40]!r} that PostgreSQL does not know") from None


def _check_queue(url: str) -> None:
    """Raise `ValueError` for a Redis URL that cannot work. No message shows the URL, as above."""
    import redis  # not needed in single-process mode

    try:
        parts = urlsplit(url)
        redis.connection.parse_url(url)  # type: ignore[no-untyped-call]
        is_address = parts.scheme in ("redis", "rediss") and re.fullmatch(r"/?\d*", parts.path, re.ASCII)
    except ValueError:
        is_address = None
    if not is_address:
        raise ValueError(
            "REDIS_URL must be redis://:password@host:6379/0 or rediss://...; in a password, write / as %2F"
        )


def _misspelt(names: Iterable[str]) -> Iterator[str]:
    """Yield a message for each name that is almost a setting: otherwise that setting would silently keep its default.

    Other names may begin with `HEDDLE_`: Kubernetes sets such variables for a service called heddle.
    """
    for name in sorted(set(names) - _ours()):
        if name.startswith("HEDDLE_") and (meant := _meant(name)):
            yield f"{name}: unknown setting; did you mean {meant}?"


def _meant(name: str) -> str | None:
    """The setting that a name is almost: written otherwise, or without its unit."""
    without_unit = {_UNIT.sub("", each): each for each in _ours()}
    return without_unit.get(name) or next(iter(difflib.get_close_matches(name, _ours(), n=1, cutoff=0.9)), None)


def unknown(names: Iterable[str]) -> list[str]:
    """Names that begin with `HEDDLE_` and that neither Heddle nor a known other program reads."""
    return sorted(
        name for name in set(names) - _ours() if name.startswith("HEDDLE_") and not _FOREIGN_NAMES.fullmatch(name)
    )


def _ours() -> set[str]:
    return {f"HEDDLE_{name.upper()}" for name in Env.model_fields} | {"HEDDLE_SECRETS_DIR"}


def require_folder(folder: Path) -> None:
    """Create the data folder if needed, or exit with a message if it is not writable."""
    try:
        _try_to_write(folder)
    except OSError as problem:
        _stop([f"HEDDLE_DATA_DIR: {folder} cannot be written to ({problem.strerror})"])


def _try_to_write(folder: Path) -> None:
    """Raise `OSError` if the folder is not writable. Tries it: a volume may be full or read-only whatever its mode."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # the database in it has everybody's threads
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(b"0")  # an empty one fits on a full disk
        file.flush()


def _secrets_dir() -> str | None:
    folder = os.environ.get("HEDDLE_SECRETS_DIR")
    if folder and not Path(folder).is_dir():
        _stop([f"HEDDLE_SECRETS_DIR: {folder} is not a folder"])
    return folder


def _stop(sentences: Iterable[str]) -> NoReturn:
    sys.exit("Heddle cannot start. Fix these environment variables:\n" + "\n".join(f"  {each}" for each in sentences))


def _sentence(loc: tuple[int | str, ...], message: str) -> str:
    """Prefix a message with its variable; errors about several settings together have no location and name them."""
    message = message.removeprefix("Value error, ")
    if not loc:
        return message
    name = str(loc[0])
    return f"{name if name.isupper() else f'HEDDLE_{name.upper()}'}: {message}"
