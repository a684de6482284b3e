"""Laws of labels: a renaming loses no report and keeps the rows beside the text of the wire."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.grammar import Field, spelled
from feedback import bulk, querying
from feedback.label_text import labels_of
from feedback.models import Label, Labelled, UserFeedback
from feedback.triage import update
from feedback.wire import TriageIn
from tests import make

law = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
names = st.sampled_from(["a", "A b", "straße", "STRASSE", "ı", 'say "no"', "(x)", "label:a"])
texts = st.none() | st.lists(names, max_size=4).map(", ".join) | st.lists(names, max_size=4).map(" ,".join)


def found(actor, name):
    """The reports of `label:name`."""
    query = querying.parse(spelled(Field("label", name)))
    return set(querying.matching(actor, query).values_list("pk", flat=True))


@pytest.mark.django_db
@law
@given(said=st.lists(texts, min_size=3, max_size=3), old=names, new=names)
def test_after_a_renaming_the_new_name_finds_what_both_found(who, said, old, new):
    UserFeedback.objects.all().delete()
    Label.objects.all().delete()
    thread = make.conversation(who.alice, 6)
    reports = [make.rating(who.alice, thread, 2 * place + 1) for place in range(3)]
    for report, text in zip(reports, said, strict=True):
        update(who.admin.actor, report.feedback_id, TriageIn(admin_label=text))
    if not Label.objects.filter(folded=old.casefold()).exists():
        return
    before = found(who.admin.actor, old) | found(who.admin.actor, new)
    bulk.change_label(who.admin.actor, old, to=new, merge=True)
    assert found(who.admin.actor, new) == before
    assert old.casefold() == new.casefold() or not found(who.admin.actor, old)
    for report in UserFeedback.objects.all():
        rows = Labelled.objects.filter(feedback=report).values_list("label__folded", flat=True)
        assert sorted(rows) == sorted(name.casefold() for name in labels_of(report.admin_label))
