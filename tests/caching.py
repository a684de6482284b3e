"""The cache of one worker of the tests. No transaction rolls it back, and on Redis all workers share it."""

from django.core.cache import cache


def forget() -> None:
    """Empty this worker's part; `cache.clear()` would empty all of a Redis, with what other workers count just then."""
    redis = getattr(cache, "_cache", None)
    if not hasattr(redis, "get_client"):
        cache.clear()
        return
    client = redis.get_client(write=True)
    for key in client.scan_iter(match=cache.make_key("*")):
        client.delete(key)
