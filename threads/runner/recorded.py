"""The recorded calls and results of an answer that is rerun.

A rerun shows what the agent does with the same facts and must not repeat side effects (book, refund, send). A call
with the same arguments gets its recorded result; the second such call gets the second result.
"""

from collections import Counter, defaultdict
from collections.abc import Callable

from core.canonical import fingerprint
from threads.content import TOLD, BlockDict, JsonObject, tool_result
from threads.models import Thread
from threads.pending import calls_behind, last_request

NOT_RECORDED = "This rerun only returns recorded results and runs read-only tools: this call was not made."

_Key = tuple[str, str]


class Recorded:
    """The calls after a fork's request in its source, and those of the fork's current turn.

    If the request was retried in the fork, calls count from the retry: its first call gets the first result. The
    database is read once; later calls of the fork are passed to `called`. `one_name` gives a tool the same name however
    its calls were stored.
    """

    def __init__(self, fork: Thread, one_name: Callable[[str], str]) -> None:
        self._one_name = one_name
        source, begin = fork.forked_from_id, fork.forked_from_message_sequence_num or 0
        self._results: dict[_Key, list[BlockDict]] = defaultdict(list)
        self.tools: dict[str, list[JsonObject]] = defaultdict(list)
        """The tools that answered a recorded call, by name, with the arguments of those calls."""
        self._counts: Counter[_Key] = Counter()
        self._answers: dict[str, BlockDict | None] = {}
        asked: dict[str, tuple[_Key, BlockDict]] = {}
        for block in calls_behind(source, begin) if source is not None else ():
            if block["content_type"] == "tool_use":
                asked[block["tool_use_id"]] = self._key(block), block
            elif found := asked.pop(block["tool_use_id"], None):
                key, use = found
                self._results[key].append(block)
                if block["status"] == "success":
                    self.tools[key[0]].append(use["input"] or {})
        for block in calls_behind(fork.pk, last_request(fork.pk) or 0):
            if block["content_type"] == "tool_use":
                self.called(block)

    def called(self, use: BlockDict) -> None:
        """Register the fork's next call, whoever answers it."""
        key = self._key(use)
        results, earlier = self._results.get(key), self._counts[key]
        self._counts[key] += 1
        self._answers[use["tool_use_id"]] = results[min(earlier, len(results) - 1)] if results else None

    def has(self, use: BlockDict) -> bool:
        """Whether there is a recorded result for a registered call."""
        return self._answers[use["tool_use_id"]] is not None

    def result_of(self, use: BlockDict) -> BlockDict | None:
        """The recorded result for a registered call, or None. Further equal calls get the last recorded result."""
        found = self._answers[use["tool_use_id"]]
        if found is None:
            return None
        result = tool_result(
            use["tool_name"], use["tool_use_id"], found["status"], found.get("payload"), runtime_ms=found["runtime_ms"]
        )
        return {**result, "answered_by": "told record" if found.get("answered_by") in TOLD else "record"}

    def _key(self, use: BlockDict) -> _Key:
        return self._one_name(use["tool_name"]), fingerprint(use["input"] or {})
