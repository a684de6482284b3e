"""Jump targets in a transcript, and the map at its side."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from threads.presenting.articles import Article, Call, Fault, Prose, is_fault


@dataclass(frozen=True, slots=True)
class Jump:
    """The number of parts of one kind, and a link to the first."""

    key: str
    icon: str
    word: str
    keycap: str
    each: str
    """A CSS selector for all of them in the transcript."""
    count: int
    href: str


def jumps(articles: Iterable[Article]) -> list[Jump]:
    """Jumps to the next error, rating and tool use; without scripts each leads to the first."""
    errors, ratings, calls = [], [], []
    for article in articles:
        errors += [part.anchor for part in article.parts if isinstance(part, Call | Fault) and is_fault(part)]
        ratings += [f"m{acts.index}" for acts in article.marks]
        calls += [call.anchor for call in article.calls]
    return [
        _jump("error", "fault", "error", "e", ".call[data-outcome=error], .fault[data-tone=neg]", errors),
        _jump("rating", "down", "rating", "r", ".msg-form:has(.margin[aria-label^=Rating])", ratings),
        _jump("call", "threads", "tool use", "t", ".call", calls),
    ]


def _jump(key: str, icon: str, word: str, keycap: str, each: str, anchors: Sequence[str]) -> Jump:
    return Jump(key, icon, word, keycap, each, len(anchors), f"#{anchors[0]}" if anchors else "")


@dataclass(frozen=True, slots=True)
class Pick:
    """One mark of the map: a link to an article."""

    kind: str
    x: int
    y: int
    width: int
    height: int
    href: str
    label: str


@dataclass(frozen=True, slots=True)
class ThreadMap:
    """The map of a thread; the height is in its own units."""

    height: int
    picks: tuple[Pick, ...]

    @property
    def tallest(self) -> int:
        """The maximum height in pixels: a long thread is compressed, a short one is not stretched."""
        return self.height * 2


_MAP_PICKS = 300
_SHAPES = {"person": (0, 24), "goal": (0, 24), "aim": (0, 24), "missed": (0, 24), "tool": (16, 8)}
_GOAL_KINDS = {"achieved": "goal", "failed": "missed", "pending": "aim"}


def thread_map(articles: Sequence[Article]) -> ThreadMap:
    """The map of a thread. Above 300 marks, successful tool uses are left out so that the rest stays clickable."""
    rows = [row for article in articles for row in _map_rows(article)]
    if len(rows) > _MAP_PICKS:
        rows = [row for row in rows if row[0] != "tool"]
    picks, y = [], 0
    for kind, height, href, label in rows:
        x, width = _SHAPES.get(kind, (8, 16))
        picks.append(Pick(kind, x, y, width, height, href, label))
        y += height + 3
    return ThreadMap(max(y - 3, 1), tuple(picks))


def _map_rows(article: Article) -> Iterator[tuple[str, int, str, str]]:
    """The map rows of an article in page order. Its text is one row, at the place of its first text."""
    where = f"message {article.index}"
    size = sum(len(part.text) for part in article.parts if isinstance(part, Prose))
    said = _map_kind(article), min(52, 8 + size // 24), f"#m{article.index}", f"{_map_word(article)}, {where}"
    first = next((part for part in article.parts if isinstance(part, Prose)), None)
    for part in article.parts:
        if part is first:
            yield said
        elif isinstance(part, Call):
            word = "Failed tool use" if is_fault(part) else "Tool use"
            yield ("fault" if is_fault(part) else "tool", 4, f"#{part.anchor}", f"{word} {part.tool_name}, {where}")
        elif isinstance(part, Fault):
            yield ("fault" if is_fault(part) else "warn", 6, f"#{part.anchor}", f"{part.title}, {where}")
    if first is None and (article.state == "generating" or article.voice == "person"):
        yield said
    for goal in article.goals:
        label = f"Goal {goal.title}, {goal.word.word}, {where}"
        yield _GOAL_KINDS[goal.status], 6, f"#m{article.index}", label


def _map_kind(article: Article) -> str:
    if article.voice == "person":
        return "person"
    if article.state == "generating":
        return "live"
    tones = {acts.mark.tone for acts in article.marks if acts.mark}
    return "rated" if "neg" in tones else "praised" if tones else "agent"


def _map_word(article: Article) -> str:
    words = {"live": "Being written", "rated": "Answer rated negative", "praised": "Answer rated positive"}
    return words.get(_map_kind(article), article.author)
