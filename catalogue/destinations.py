"""What the command palette finds of the catalogue: pages, tools, skills and worlds."""

from collections.abc import Iterator, Sequence
from urllib.parse import quote

from django.urls import reverse

from accounts.models import Org
from catalogue.models import Skill, Tool
from catalogue.worlds import choosing
from core import ids
from core.actor import Actor
from core.destinations import (
    AT_MOST,
    Destination,
    Page,
    are_long_enough,
    column_contains,
    contains,
    list_search,
    pages,
)

_PAGES = (
    Page("Tools", "catalogue:tools", "shelf", "catalogue servers", "g c"),
    Page("Import tools", "catalogue:import", "upload", "catalogue add paste openai mcp"),
    Page("Skills", "catalogue:skills", "shelf", "catalogue"),
    Page("New skill", "catalogue:skill_new", "plus", "catalogue write create"),
    Page("Worlds", "catalogue:worlds", "shelf", "catalogue synthetic fixtures"),
    Page("New world", "catalogue:world_new", "plus", "catalogue synthetic create"),
    Page("Compliance", "catalogue:compliance", "check", "catalogue rules verdict"),
)


def destinations(actor: Actor, org: Org | None, words: Sequence[str]) -> Iterator[Destination]:
    """What fits the words; without words the pages. Four queries at most."""
    yield from pages(words, _PAGES)
    if not org or not are_long_enough(words):
        return
    tools = Tool.objects.visible_in(org.pk).filter(column_contains(words, "qualified_name")).order_by("qualified_name")
    for name in tools.values_list("qualified_name", flat=True)[:AT_MOST]:
        # `reverse` would leave some characters of a name as they are.
        url = reverse("catalogue:tool", args=["-"]).replace("-", quote(name, safe=""))
        yield Destination("Tool", name, url, "shelf")
    skills = Skill.objects.visible_to(actor).filter(column_contains(words, "name")).order_by("name")
    for key, name in skills.values_list("key", "name")[:AT_MOST]:
        yield Destination("Skill", name, reverse("catalogue:skill", args=[ids.SKILL + key]), "shelf")
    for world in choosing.choices(org.pk):
        if contains(words, world.words):
            yield Destination("World", world.words, reverse("catalogue:world", args=[world.world_id]), "shelf")
    yield list_search("Search tools for", "catalogue:tools", words)
