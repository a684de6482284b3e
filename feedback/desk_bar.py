"""The bar above the desk's list: the search field, the views with their counts, remarks on the query."""

from collections.abc import Mapping
from dataclasses import replace

from django.urls import reverse

from core import grammar, ids
from core.actor import Actor
from core.grammar import spelled
from core.paging import counted
from core.wording import isolated
from feedback import saved_views, screens
from feedback.presenting.bar import DeskBar, Note
from feedback.presenting.links import Choice, href, pane_of, panes
from feedback.presenting.menus import letters
from feedback.querying import NEWEST, OLDEST, Meaning, Query, completing, matching, parse, term_meant, term_of

_OF_THE_MENU = "v123456789"
"""Its own key, and those of the built-in views."""


def bar_of(actor: Actor, parsed: Query, meant: Meaning | None, query: dict[str, str]) -> DeskBar:
    """Search field, views and panes; `meant` is the meaning of the query, None if it is invalid.

    Only the built-in views and the current one are counted, because each count is a query of its own. A view stays
    current in another order, unless there is a view with that order. If the query is limited to an org, so are the
    views and their counts, except those that name an org themselves.
    """
    saved_by_people = saved_views.listed(actor)
    here = [parsed, parsed.of_org("")]
    spellings = [each.canonical for query in here for each in (query, query.sorted_by(NEWEST))]
    known = {each.query for each in saved_views.BUILT_IN} | {each.query for each in saved_by_people}
    looked_at = next((each for each in spellings if each in known), None)
    wanted = {each.query for each in saved_views.BUILT_IN if each.is_work}
    counts: dict[str | None, int | None] = {}
    if parsed.org:
        counts.update({query: _count(actor, query, meant) for query in wanted if query != looked_at})
    else:
        counts.update(saved_views.counts(actor, wanted | saved_views.FIXED.intersection([looked_at])))
    total = counts[looked_at] if looked_at in counts else counted(meant.reports) if meant else None
    counts[looked_at] = total
    views = [
        replace(
            _choice(each.name, each.query, looked_at, counts, parsed.org),
            is_aside=not each.is_work or (each.is_rare and not counts[each.query]),
            is_rare=each.is_rare,
        )
        for each in saved_views.BUILT_IN
    ]
    # By age: a new view takes no other one's letter.
    by_age = sorted(saved_by_people, key=lambda saved: saved.pk)
    letter_of = dict(
        zip((each.pk for each in by_age), letters((each.name for each in by_age), taken=_OF_THE_MENU), strict=True)
    )
    for saved in saved_by_people:
        view = _choice(saved.name, saved.query, looked_at, counts, parsed.org)
        # What is shown of it for one org is not the view that would be changed or deleted.
        is_whole = saved.query not in spellings[2:] or not parsed.org
        view_id = ids.VIEW + saved.key if is_whole and saved_views.may_change(actor, saved) else ""
        letter = letter_of[saved.pk]
        views.append(replace(view, is_shared=saved.is_shared, view_id=view_id, is_aside=True, letter=letter))
    return DeskBar(
        query=query["q"],
        tokens=screens.tokens_of(parsed, {}, query.get("item", ""), without={"stay": "1"}),
        views=tuple(views),
        panes=panes(query),
        here=reverse("feedback:desk") + href(query),
        pane=pane_of(query),
        notes=_notes(parsed, meant, total),
        total=total,
        state=parsed.state,
        order=parsed.order.name,
        other_order=_other_order(parsed),
    )


def _notes(parsed: Query, meant: Meaning | None, total: int | None) -> tuple[Note, ...]:
    """Remarks on names that do not exist; if the query finds nothing, with the nearest known name."""
    found = []
    for remark in meant.remarks if meant else ():
        if not total and (name := completing.near(remark)):
            better = parsed.with_name(remark.field, remark.name, name).text
            found.append(Note(remark.words, spelled(term_of(remark.field, name)), href({"q": better})))
        else:
            found.append(Note(remark.words))
    if meant and not total:
        words = (leaf.text for leaf in grammar.leaves(parsed.root) if isinstance(leaf, grammar.Text))
        found += filter(None, (_note_on(parsed, each) for each in dict.fromkeys(words)))
    return tuple(found)


def _note_on(parsed: Query, word: str) -> Note | None:
    """That a word may have been meant as an operator or as a term."""
    if word.upper() in grammar.SIGNS and not word.isupper():
        return Note(f"“{word}” was searched for as a word. Operators are upper case.")
    if term := term_meant(word):
        asked = f"“{isolated(word)}” was searched for as {'words' if ' ' in word.strip() else 'a word'}."
        return Note(asked, spelled(term), href({"q": parsed.with_word_as(word, term).text}))
    return None


def _other_order(parsed: Query) -> Choice:
    """The same reports in reverse order; the one that is open then stays open."""
    other = OLDEST if parsed.order == NEWEST else NEWEST
    return Choice(f"Show {other.name} first", href({"q": parsed.sorted_by(other).text, "stay": "1"}))


def _choice(name: str, query: str, looked_at: str | None, counts: Mapping[str | None, int | None], org: str) -> Choice:
    """A view, limited to an org if there is one and it names none."""
    parsed = parse(query) if org else None
    limited = parsed.of_org(org).text if parsed and not parsed.org else query
    return Choice(name, href({"q": limited}), query == looked_at, counts.get(query))


def _count(actor: Actor, query: str, meant: Meaning | None) -> int | None:
    """Number of reports of a built-in view, of the org that the page's query is limited to; None if that is unknown."""
    if meant is None:
        return None
    return counted(matching(actor, parse(query)).filter(org=meant.org)) if meant.org else 0
