"""Jump targets in a transcript, and the map at its side."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from threads.presenting.articles import Article, Call, Fault, Gap, Piece, Prose, is_fault
from threads.presenting.words import counted


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


def jumps(pieces: Iterable[Piece]) -> list[Jump]:
    """Jumps to the next error, rating and tool use of the whole thread; without scripts each leads to the first.

    To those of messages that are not shown leads the link that shows them.
    """
    errors, ratings, calls = [], [], []
    for article in pieces:
        if isinstance(article, Gap):
            where = [f"fold-{article.index}"]
            errors += where * article.faults
            ratings += where * article.ratings
            calls += where * article.call_count
            continue
        errors += [part.anchor for part in article.parts if isinstance(part, Call | Fault) and is_fault(part)]
        ratings += [f"m{acts.index}" for acts in article.marks]
        calls += [call.anchor for call in article.calls]
    return [
        _jump(
            "error", "fault", "error", "e", ".call[data-outcome=error], .fault[data-tone=neg], [data-to=error]", errors
        ),
        _jump("rating", "down", "rating", "r", ".msg-form:has(.margin[aria-label^=Rating]), [data-to=rating]", ratings),
        _jump("call", "threads", "tool use", "t", ".call, [data-to=call]", calls),
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


def thread_map(pieces: Sequence[Piece]) -> ThreadMap:
    """The map of a thread. Above 300 marks, successful tool uses are left out so that the rest stays clickable."""
    rows = [row for piece in pieces for row in _map_rows(piece)]
    if len(rows) > _MAP_PICKS:
        rows = [row for row in rows if row[0] != "tool"]
    picks, y = [], 0
    for kind, height, href, label in rows:
        x, width = _SHAPES.get(kind, (8, 16))
        picks.append(Pick(kind, x, y, width, height, href, label))
        y += height + 3
    return ThreadMap(max(y - 3, 1), tuple(picks))


def _map_rows(piece: Piece) -> Iterator[tuple[str, int, str, str]]:
    return _gap_rows(piece) if isinstance(piece, Gap) else _article_rows(piece)


def _gap_rows(gap: Gap) -> Iterator[tuple[str, int, str, str]]:
    where = f"#fold-{gap.index}"
    yield "gap", min(52, 8 + len(gap.covers) // 24), where, f"{counted(len(gap.covers), 'message')} not shown"
    if gap.faults:
        yield "fault", 6, where, f"{counted(gap.faults, 'error')} in messages not shown"
    if gap.ratings:
        yield "warn", 6, where, f"{counted(gap.ratings, 'rating')} in messages not shown"


def _article_rows(article: Article) -> Iterator[tuple[str, int, str, str]]:
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
