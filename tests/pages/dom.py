"""Pages as trees, and what holds for every one of them."""

import re
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlsplit

import time_machine
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

_VOID = frozenset({"area", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"})
_INLINE = frozenset({"a", "b", "code", "em", "i", "kbd", "mark", "span", "strong", "time"})
_NAMING = ("for", "aria-labelledby", "aria-describedby", "form", "popovertarget")
_LEADING = ("href", "action", "src", "formaction", "hx-get", "hx-post")


class Node:
    """An element, found by tag, id, class and attributes: `page.all("a", class_="btn", data_kind="ghost")`."""

    def __init__(self, tag: str, attributes: dict[str, str | None], parent: "Node | None") -> None:
        self.tag, self.attributes, self.parent = tag, attributes, parent
        self.children: list[Node | str] = []
        self._among: list[Node] = parent._among if parent else []
        """All nodes of the page in their order: those of this one stand side by side, from its place to its end."""
        self._place = len(self._among)
        self._among.append(self)
        self._end: int | None = None

    def __getitem__(self, name: str) -> str:
        value = self.attributes[name]
        return "" if value is None else value

    def get(self, name: str) -> str | None:
        return self.attributes.get(name)

    def has(self, name: str) -> bool:
        return name in self.attributes

    def walk(self) -> list["Node"]:
        """This node and everything in it."""
        return self._among[self._place : self._end]

    def close(self) -> None:
        """Everything that is in it has been added."""
        self._end = len(self._among)

    @property
    def text(self) -> str:
        """What is read, white space as it is."""
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    @property
    def words(self) -> str:
        """What is read, in one line."""
        return " ".join(self._spaced().split())

    def _spaced(self) -> str:
        gap = "" if self.tag in _INLINE else " "
        return gap + "".join(child if isinstance(child, str) else child._spaced() for child in self.children) + gap

    def all(self, tag: str = "", **wanted: str | bool) -> list["Node"]:
        return [node for node in self.walk()[1:] if node._is(tag, wanted)]

    def one(self, tag: str = "", **wanted: str | bool) -> "Node":
        found = self.all(tag, **wanted)
        assert len(found) == 1, f"{len(found)} of {tag} {wanted}: {[node.words[:80] for node in found]}"
        return found[0]

    def none(self, tag: str = "", **wanted: str | bool) -> bool:
        return not self.all(tag, **wanted)

    def id(self, name: str) -> "Node":
        return self.one(id=name)

    def within(self, tag: str) -> "Node":
        """The nearest element of that tag around this one."""
        assert self.parent is not None, f"no {tag} around it"
        return self.parent if self.parent.tag == tag else self.parent.within(tag)

    def _is(self, tag: str, wanted: dict[str, str | bool]) -> bool:
        return tag in ("", self.tag) and (not wanted or all(self._holds(*each) for each in wanted.items()))

    def _holds(self, name: str, value: str | bool) -> bool:
        if name == "class_":
            return str(value) in (self.get("class") or "").split()
        name = name.rstrip("_").replace("_", "-")
        return self.has(name) == value if isinstance(value, bool) else self.get(name) == value

    def fields(self) -> dict[str, list[str]]:
        """What a form would send, without any of its buttons."""
        sent: dict[str, list[str]] = {}
        for node in self.all():
            if not node.get("name") or node.has("disabled") or node.tag not in ("input", "textarea", "select"):
                continue
            if node.get("type") in ("radio", "checkbox") and not node.has("checked"):
                continue
            if node.tag == "select":
                options = node.all("option")
                chosen = next((each for each in options if each.has("selected")), options[0])
                value = chosen.words if chosen.get("value") is None else chosen["value"]
            else:
                value = node.text if node.tag == "textarea" else node.get("value") or ""
            sent.setdefault(node["name"], []).append(value)
        return sent


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = self.at = Node("", {}, None)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), f"an attribute twice: <{tag} {attrs}>"
        node = Node(tag, dict(attrs), self.at)
        self.at.children.append(node)
        if tag in _VOID:
            node.close()
        else:
            self.at = node

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, dict(attrs), self.at)
        node.close()
        self.at.children.append(node)

    def handle_endtag(self, tag: str) -> None:
        assert self.at.tag == tag and self.at.parent, f"</{tag}> closes <{self.at.tag} {self.at.attributes}>"
        self.at.close()
        self.at = self.at.parent

    def handle_data(self, data: str) -> None:
        self.at.children.append(data)


def parsed(html: str) -> Node:
    """A document or a fragment, refused unless it is well nested."""
    builder = _Builder()
    builder.feed(html)
    builder.close()
    assert builder.at is builder.root, f"<{builder.at.tag} {builder.at.attributes}> is not closed"
    return builder.root


_ESCAPED_TWICE = re.compile(r".{0,60}&amp;(?:lt|gt|quot|amp|#x27);.{0,60}", re.DOTALL)


def dom(response: HttpResponse, status: int = 200) -> Node:
    """The page or fragment of an answer, after checking what must hold everywhere."""
    told = re.sub(r"<[^>]*>|\s+", " ", response.content.decode(errors="replace").rpartition("<main")[2])
    assert response.status_code == status, f"{response.status_code}: {told[:300]}"
    content = response.content.decode()
    assert not (twice := _ESCAPED_TWICE.search(content)), twice[0]
    root = parsed(content)
    _nothing_inline(root)
    _ids_once(root)
    if not root.none("html"):
        _whole(root, response)
    return root


def get(client: Client, path: str, status: int = 200, **headers: str) -> Node:
    """Open a page."""
    return dom(client.get(path, headers=headers), status)


def then(client: Client, answer: HttpResponse) -> Node:
    """Where a form led."""
    assert answer.status_code == 302, answer.content
    return get(client, answer["Location"])


def fragment(client: Client, path: str, status: int = 200) -> Node:
    """What htmx gets."""
    return get(client, path, status, **{"HX-Request": "true"})


def submit(client: Client, form: Node, button: str = "", **typed: Any) -> HttpResponse:
    """Send a form as a browser without scripts would, with what was typed over what it holds."""
    pressed = next((node for node in form.all("button") if button and node.get("value") == button), None)
    extra = {pressed["name"]: pressed["value"]} if pressed else {}
    # Only the form for signing in is sent to where it is: so the browser keeps the fragment of the page that was asked.
    return client.post(form.get("action") or "/signin/", {**form.fields(), **typed, **extra})


def _nothing_inline(root: Node) -> None:
    """The content policy would refuse it, and hostile text would need it."""
    for node in root.walk():
        assert node.tag not in ("style", "iframe", "object", "embed", "base"), node.tag
        assert node.tag != "script" or (node.has("src") and not node.words), node.attributes
        for name, value in node.attributes.items():
            assert name != "style" and not name.startswith("on"), (node.tag, node.attributes)
            if name in _LEADING:
                assert urlsplit(value or "").scheme in ("", "http", "https", "mailto"), (node.tag, value)
            if name in _LEADING and name != "href":
                assert not urlsplit(value or "").netloc, (node.tag, value)


def _ids_once(root: Node) -> None:
    ids = [node["id"] for node in root.walk() if node.has("id")]
    assert len(ids) == len(set(ids)), sorted({each for each in ids if ids.count(each) > 1})
    assert all(ids) and not any(re.search(r"\s", each) for each in ids)


def _whole(root: Node, response: HttpResponse) -> None:
    """A whole page: its landmarks, its names, its policy, and no reference into the void."""
    ids = {node["id"] for node in root.walk() if node.has("id")}
    for node in root.walk():
        for name in _NAMING:
            for target in (node.get(name) or "").split():
                assert target in ids, f"{node.tag} {name}={target}"
        if (node.get("href") or "").startswith("#"):
            assert node["href"][1:] in ids, f"a link to {node['href']}"
        if node.tag in ("button", "a"):
            named = node.words or node.get("aria-label") or any(child.get("aria-label") for child in node.all())
            assert named, f"<{node.tag}> without a name: {node.attributes}"
    assert len(root.all("h1")) == 1, [node.words for node in root.all("h1")]
    assert root.one("main")["id"] == "main"
    assert root.one("head").one("title").words.endswith("· Heddle")
    for form in root.all("form"):
        assert form.get("method") != "post" or form.all("input", name="csrfmiddlewaretoken"), form.attributes
    assert "script-src 'self'" in response["Content-Security-Policy"]
    assert response["X-Content-Type-Options"] == "nosniff"


def queries(client: Client, path: str, **headers: str) -> int:
    """How many queries a page costs."""
    with time_machine.travel(timezone.now(), tick=False):  # some is remembered for as long as a minute lasts
        client.get(path, headers=headers)  # whatever is remembered between requests is remembered now
        with CaptureQueriesContext(connection) as asked:
            assert client.get(path, headers=headers).status_code == 200
    return len(asked)


def names(page: Node) -> list[str]:
    """What the rows of a list are called, in their order."""
    return [cell.one("a").words for cell in page.all("th", class_="title")]
