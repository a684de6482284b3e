"""The cache of several processes: Redis, and the memory of each while Redis is away or hangs."""

import logging
from collections.abc import Callable
from time import monotonic
from typing import Any

from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache

AWAY_SECONDS = 5
"""A Redis that did not answer is not asked again for so long: whoever needs a page waits for it once, if at all."""
_PATIENCE = {"socket_connect_timeout": 1, "socket_timeout": 1}
_away_until: dict[str, float] = {}  # by address, for each thread has a cache of its own
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
    """Django's cache on Redis, which raises nothing of Redis.

    What is counted while Redis is away each process counts for itself, from zero. To count nothing meanwhile was
    rejected: whoever can make Redis hang could then guess passwords as quickly as they like.
    """

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, {**params, "OPTIONS": {**_PATIENCE, **params.get("OPTIONS", {})}})
        self._address = server
        self.memory: LocMemCache = LocMemCache(server, params)

    @property
    def is_away(self) -> bool:
        """Whether Redis did not answer a moment ago."""
        return monotonic() < _away_until.get(self._address, 0)

    @property
    def redis_error(self) -> type[Exception]:
        """What Redis raises, imported no sooner than it is asked: one process does without."""
        import redis

        return redis.RedisError

    def leave(self, problem: Exception) -> None:
        """Do without Redis for a while, and say so once."""
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
