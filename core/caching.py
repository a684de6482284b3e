"""The shared cache: Redis, with a per-process memory cache as fallback while Redis is down or hangs."""

import logging
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache

from core.pausing import Pause

_PATIENCE = {"socket_connect_timeout": 1, "socket_timeout": 1}
_pauses: dict[str, Pause] = defaultdict(Pause)  # by address, because each thread has its own cache object
logger = logging.getLogger("heddle.cache")


def _asked(name: str) -> Callable[..., Any]:
    in_redis, in_memory = getattr(RedisCache, name), getattr(LocMemCache, name)

    def operation(self: "RedisOrMemory", *args: Any, **kwargs: Any) -> Any:
        if not self.pause.is_on:
            try:
                return in_redis(self, *args, **kwargs)
            except self.redis_error as problem:
                if self.pause.begin():
                    logger.warning("cache.away", extra={"kind": type(problem).__name__})
        return in_memory(self.memory, *args, **kwargs)

    return operation


class RedisOrMemory(RedisCache):
    """Django's Redis cache, without raising Redis errors.

    While Redis is down each process counts for itself, from zero. Counting nothing was rejected: anyone who can make
    Redis hang could then guess passwords without limit.
    """

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, {**params, "OPTIONS": {**_PATIENCE, **params.get("OPTIONS", {})}})
        self.pause = _pauses[server]
        self.memory: LocMemCache = LocMemCache(server, params)

    @property
    def redis_error(self) -> type[Exception]:
        """The base class of Redis errors. Imported lazily: single-process mode does not need Redis."""
        import redis

        return redis.RedisError

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
