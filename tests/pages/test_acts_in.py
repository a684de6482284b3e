"""A form stores in the org that it was opened in, whichever was chosen since in another tab."""

import json

import pytest
from django.urls import reverse

from accounts.models import Org
from catalogue.models import Skill, Tool, World
from tests.pages.desk import Browser
from tests.pages.dom import get
from tests.people import People, add_member
from threads.models import Agent, Thread

TOOL = {"type": "function", "function": {"name": "look", "description": "Look.", "parameters": {"type": "object"}}}
TALK = {"id": "one", "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}
FORMS = {
    "/threads/start/": (Thread, {"text": "A customer's secret.", "visibility": "org"}),
    "/threads/import/": (Thread, {"text": json.dumps(TALK), "visibility": "org", "verb": "import"}),
    "/agents/new/": (Agent, {"name": "helper", "text": "Help."}),
    "/catalogue/import/": (Tool, {"text": json.dumps(TOOL), "server": "srv", "dialect": "openai"}),
    "/skills/new/": (Skill, {"name": "look", "description": "Look.", "content": "Look twice.", "accessibility": "org"}),
    "/catalogue/worlds/new/": (World, {"name": "try", "mode": "stateful", "servers": "demo"}),
}


@pytest.mark.parametrize("path", FORMS)
def test_a_form_is_not_stored_in_an_org_that_was_chosen_since(browser_of: Browser, who: People, path: str) -> None:
    """Colleagues there would read what was meant for others. What comes back may be sent there on purpose."""
    add_member(who.globex, who.alice.user)
    client, (model, typed) = browser_of("alice"), FORMS[path]
    opened = {"acts_in": get(client, path).one("input", name="acts_in")["value"]}
    assert opened == {"acts_in": "acme"}
    client.post(reverse("accounts:switch_org"), {"org": "globex"})
    refused = client.post(path, typed | opened)
    page = refused.content.decode()
    assert refused.status_code == 400 and "You are in globex now; this form is of acme." in page
    assert not model.objects.filter(org=Org.objects.get(slug="globex")).exists()
    assert 'name="acts_in" value="globex"' in page
    again = client.post(path, typed | {"acts_in": "globex"})
    assert "You are in" not in again.content.decode()
