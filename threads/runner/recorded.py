"""The calls of an answer that is run again, with what they came to.

A rerun shall show what the agent makes of the same facts, and must not do a second time what its calls did: book,
refund, send. A call with the same arguments is answered as it was; the second one like it as the second one was.
"""

from collections import Counter, defaultdict

from core.canonical import fingerprint
from threads.content import BlockDict, tool_result
from threads.models import Thread
from threads.pending import calls_behind, last_request

NOT_RECORDED = (
    "In this rerun only what was called before is answered, and what is known to only read: this call was not made."
)

_Key = tuple[str, str]


class Recorded:
    """What stands in the source of a fork, behind the request that both begin with, and the calls of the fork's turn.

    Where the request was repeated in the fork, they are counted from there: the first of them is answered as the first.
    Read once: what the fork calls from then on is told to it.
    """

    def __init__(self, fork: Thread) -> None:
        source, begin = fork.forked_from_id, fork.forked_from_message_sequence_num or 0
        self._results: dict[_Key, list[BlockDict]] = defaultdict(list)
        self._counts: Counter[_Key] = Counter()
        self._answers: dict[str, BlockDict | None] = {}
        asked: dict[str, _Key] = {}
        for block in calls_behind(source, begin) if source is not None else ():
            if block["content_type"] == "tool_use":
                asked[block["tool_use_id"]] = _key(block)
            elif key := asked.pop(block["tool_use_id"], None):
                self._results[key].append(block)
        for block in calls_behind(fork.pk, last_request(fork.pk) or 0):
            if block["content_type"] == "tool_use":
                self.called(block)

    def called(self, use: BlockDict) -> None:
        """The next call of the fork, whoever is to answer it."""
        key = _key(use)
        results, earlier = self._results.get(key), self._counts[key]
        self._counts[key] += 1
        self._answers[use["tool_use_id"]] = results[min(earlier, len(results) - 1)] if results else None

    def has(self, use: BlockDict) -> bool:
        """Whether such a call was answered."""
        return self._answers[use["tool_use_id"]] is not None

    def result_of(self, use: BlockDict) -> BlockDict | None:
        """The answer to such a call, as the result of this one; None where there was none. The last one of its kind may
        be given again.
        """
        found = self._answers[use["tool_use_id"]]
        if found is None:
            return None
        result = tool_result(
            use["tool_name"], use["tool_use_id"], found["status"], found["payload"], runtime_ms=found["runtime_ms"]
        )
        return {**result, "answered_by": "record"}


def _key(use: BlockDict) -> _Key:
    return use["tool_name"], fingerprint(use["input"] or {})
