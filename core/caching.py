"""The shared cache: Redis, with a per-process memory cache as fallback while Redis is down or hangs."""

import logging
from collections.abc import Callable
from time import monotonic
from typing import Any

from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache

AWAY_SECONDS = 5
"""After a failure Redis is not tried again for this long, so that a request waits for it at most once."""
_PATIENCE = {"socket_connect_timeout": 1, "socket_timeout": 1}
_away_until: dict[str, float] = {}  # by address, because each thread has its own cache object
logger = logging.getLogger("heddle.cache")


def _asked(name: str) -> Callable[..., Any]:
    in_redis, in_memory = getattr(RedisCache, name), getattr(LocMemCache, name)

    def operation(self: "RedisOrMemory", *args: Any, **kwargs: Any) -> Any:
        if not self.is_away:
            try:
                return in_redis(self, *args, **kwargs)
            except self.redis_error as problem:
                self.leave(problem)
        return in_memory(self.memory, *args, **kwargs)

    return operation


class RedisOrMemory(RedisCache):
    """Django's Redis cache, without raising Redis errors.

    While Redis is down each process counts for itself, from zero. Counting nothing was rejected: anyone who can make
    Redis hang could then guess passwords without limit.
    """

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, {**params, "OPTIONS": {**_PATIENCE, **params.get("OPTIONS", {})}})
        self._address = server
        self.memory: LocMemCache = LocMemCache(server, params)

    @property
    def is_away(self) -> bool:
        """Whether Redis failed within the last seconds."""
        return monotonic() < _away_until.get(self._address, 0)

    @property
    def redis_error(self) -> type[Exception]:
        """The base class of Redis errors. Imported lazily: single-process mode does not need Redis."""
        import redis

        return redis.RedisError

    def leave(self, problem: Exception) -> None:
        """Stop using Redis for a while and log it once."""
        if not self.is_away:
            _away_until[self._address] = monotonic() + AWAY_SECONDS
            logger.warning("cache.away", extra={"kind": type(problem).__name__})

    add = _asked("add")
    get = _asked("get")
    set = _asked("set")
    touch = _asked("touch")
    delete = _asked("delete")
    incr = _asked("incr")
    has_key = _asked("has_key")
    get_many = _asked("get_many")
    set_many = _asked("set_many")
    delete_many = _asked("delete_many")
    clear = _asked("clear")
