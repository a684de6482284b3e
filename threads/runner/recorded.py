"""The calls of an answer that is run again, with what they came to.

A rerun shall show what the agent makes of the same facts, and must not do a second time what its calls did: book,
refund, send. A call with the same arguments is answered as it was; the second one like it as the second one was.
"""

from collections import defaultdict

from core.canonical import fingerprint
from threads.content import BlockDict, tool_result
from threads.models import Thread
from threads.pending import calls_behind

NOT_RECORDED = (
    "In this rerun only what was called before is answered, and what is known to only read: this call was not made."
)

_Key = tuple[str, str]


class Recorded:
    """What stands in the source of a fork, behind the request that both begin with."""

    def __init__(self, fork: Thread) -> None:
        source, begin = fork.forked_from_id, fork.forked_from_message_sequence_num
        self._fork_pk, self._begin = fork.pk, begin or 0
        self._results: dict[_Key, list[BlockDict]] = defaultdict(list)
        asked: dict[str, _Key] = {}
        for block in calls_behind(source, self._begin) if source is not None else ():
            if block["content_type"] == "tool_use":
                asked[block["tool_use_id"]] = _key(block)
            elif key := asked.pop(block["tool_use_id"], None):
                self._results[key].append(block)

    def has(self, use: BlockDict) -> bool:
        """Whether such a call was answered."""
        return _key(use) in self._results

    def result_of(self, use: BlockDict) -> BlockDict:
        """The answer to a call that it has, as the result of this one. The last one of its kind may be given again."""
        results = self._results[_key(use)]
        earlier = 0
        for block in calls_behind(self._fork_pk, self._begin):
            if block["content_type"] != "tool_use":
                continue
            if block["tool_use_id"] == use["tool_use_id"]:
                break
            earlier += _key(block) == _key(use)
        found = results[min(earlier, len(results) - 1)]
        result = tool_result(
            use["tool_name"], use["tool_use_id"], found["status"], found["payload"], runtime_ms=found["runtime_ms"]
        )
        return {**result, "answered_by": "record"}


def _key(use: BlockDict) -> _Key:
    return use["tool_name"], fingerprint(use["input"] or {})
