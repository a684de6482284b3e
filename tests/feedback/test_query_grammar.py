"""The desk's query language: how a line is read, and what is said of what it does not know."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from core import moments, zones
from core.moments import Stretch
from feedback.querying import NEWEST, OLDEST, parse
from feedback.querying.fields import FIELDS

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("line", "spelled"),
    [
        ("", ""),
        ("  is:OPEN   sentiment:Negative ", "is:open sentiment:negative"),
        ("category:Tool-Failure", "category:tool_failure"),
        ('label:"two words"', 'label:"two words"'),
        ('"hello"', "hello"),
        (r'"say \"no\""', r'"say \"no\""'),
        ("a b OR c", "a b OR c"),
        ("(a b) OR c", "a b OR c"),
        ("a (b OR c)", "a (b OR c)"),
        ("((a)) (b c)", "a b c"),
        ("--a -(-b)", "a b"),
        ("-OR", '-"OR"'),
        ("is:open AND label:money", "is:open label:money"),
        ("a AND (b OR c) AND d", "a (b OR c) d"),
        ("a AND b OR c", "a b OR c"),
        ("a and b or not c", "a and b or not c"),
        ('a "AND" "NOT" "OR" b', 'a "AND" "NOT" "OR" b'),
        ("NOT is:open", "-is:open"),
        ("a AND NOT b c", "a -b c"),
        ("NOT (a OR b)", "-(a OR b)"),
        ("NOT(a b)", "-(a b)"),
        ('NOT "two words"', '-"two words"'),
        ("NOT NOT a NOT -b", "a b"),
        ("-NOT -AND", '-"NOT" -"AND"'),
        ("note:NOT", "note:NOT"),
        ("https://x.test/a:b 12:30", "https://x.test/a:b 12:30"),
        ("OWNER:Me", "owner:me"),
        ("created:<7D", "created:<7d"),
        ("created:Today", "created:today"),
        ("created:2026-05..", "created:>=2026-05"),
        ("created:..today[Europe/Berlin]", "created:<=today[Europe/Berlin]"),
        ("age:7d.. resolved:..2w", "age:>=7d resolved:<=2w"),
        ("resolved:yesterday..2026-05-01[Europe/Berlin]", "resolved:yesterday..2026-05-01[Europe/Berlin]"),
        ("sentiment:neg is:un has:notes", "sentiment:negative is:unclaimed has:notes"),
        ("sentiment:good OR sentiment:BAD", "sentiment:positive OR sentiment:negative"),
        ("category:tool", "category:tool_failure"),
        ("owner:Nobody", "owner:none"),
        ("label:None", "label:none"),
        ("outcome:None -has:outcome", "outcome:none -has:outcome"),
        ('label:"None" label:"money"', 'label:"None" label:money'),
        ('owner:"none"', "owner:none"),
        ("refund*", "refund*"),
        ("fb_01m853j92ren7s7dpb1s5e6eyv", "id:fb_01m853j92ren7s7dpb1s5e6eyv"),
        ("-ags_01m853j92ren7s7dpb1s5e6eyv", "-id:ags_01m853j92ren7s7dpb1s5e6eyv"),
        ("ch_ange fb_short", "ch_ange fb_short"),
        ("is:unresolved is:Closed", "is:open is:resolved"),
        ("is:unassigned sentiment:down sort:created", "is:unclaimed sentiment:negative sort:newest"),
        ("error:* -label:* note:*", "has:error -has:label has:note"),
        ('label:"*" owner:"*" -tool:"*"', 'label:"*" owner:"*" -tool:"*"'),
        ("model:*", "model:*"),
    ],
)
def test_every_line_has_one_spelling(line, spelled):
    query = parse(line)
    assert query.problems == ()
    assert query.canonical == spelled


@pytest.mark.parametrize(
    ("line", "wrong", "reason"),
    [
        ("is:open sentiment:angry", "sentiment:angry", "must be positive or negative"),
        ("lable:bug", "lable:bug", "did you mean label:?"),
        ("zzz:bug", "zzz:bug", "the fields are is, has,"),
        ("submitter:bob", "submitter:bob", "did you mean by:?"),
        ("status:open", "status:open", "did you mean is:?"),
        ("owner: me", "owner:", "needs a value"),
        ("a OR", "OR", "on both sides"),
        ("OR a", "OR", "on both sides"),
        ("a AND", "AND", "on both sides"),
        ("AND a", "AND", "on both sides"),
        ("a AND AND b", "AND", "on both sides"),
        ("a (AND b)", "AND", "on both sides"),
        ("a OR AND b", "OR", "on both sides"),
        ("a NOT", "NOT", "needs a term after it"),
        ("(a NOT) b", "NOT", "needs a term after it"),
        ("(NOT) a", "NOT", "needs a term after it"),
        ("NOT OR a", "NOT", "needs a term after it"),
        ("NOT AND a", "NOT", "needs a term after it"),
        ("(a", "(a", "has no closing bracket"),
        ("b -(label:safety OR", "(label:safety OR", "has no closing bracket"),
        ("a)", ")", "unbalanced bracket"),
        ("a ()", "()", "is empty"),
        ("a - b", "-", "without a space"),
        ('say "hello', '"hello', 'no closing "'),
        ('label:"x', 'label:"x', 'no closing "'),
        ("!!! a", "!!!", "a letter or a digit"),
        ("note:...", "note:...", "a letter or a digit"),
        ("created:tomorrow", "created:tomorrow", "must be a day"),
        ("created:2026-02-30", "created:2026-02-30", "must be a day"),
        ("created:2026..7d", "created:2026..7d", "or a range"),
        ("created:1d..2d..3d", "created:1d..2d..3d", "or a range"),
        ("age:2026", "age:2026", "must be an age"),
        ("fork:maybe", "fork:maybe", "must be yes or no"),
        ('outcome:"*"', 'outcome:"*"', "must be fixed"),
        ('fork:"*"', 'fork:"*"', "must be yes or no"),
        ('comment:"*"', 'comment:"*"', "There is no field comment"),
        ('note:"*"', 'note:"*"', "a letter or a digit"),
        ("is:d", "is:d", "may be due or duplicate; type more of it"),
        ("is:x", "is:x", "must be open, resolved"),
        ("age:today", "age:today", "must be an age"),
        ("sort:best", "sort:best", "must be newest, oldest, edited or due"),
        ("is:open -sort:oldest", "sort:oldest", "sorts the whole list"),
        ("is:open OR sort:oldest", "sort:oldest", "sorts the whole list"),
        ("is:open (a OR (b SORT:Oldest))", "SORT:Oldest", "sorts the whole list"),
        ("sort:oldest is:open sort:newest", "sort:newest", "second sort order after sort:oldest"),
    ],
)
def test_what_is_not_understood_is_named_in_its_place_with_what_would_be_right(line, wrong, reason):
    [problem] = parse(line).problems
    assert problem.text == line[problem.start : problem.end] == wrong
    assert reason in problem.reason
    assert problem.sentence.startswith(f"{wrong} — ")


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("category:incorrect,slow", "(category:incorrect OR category:slow)"),
        ("is:negative", "sentiment:negative"),
        ("is:slow", "category:slow"),
        ("order:oldest", "sort:oldest"),
        ("status:unresolved", "is:open"),
        ("is:zzz", ""),
        ("is:none", ""),
        ("sort:newest,oldest", "sort:oldest"),
    ],
)
def test_what_is_not_understood_is_offered_as_what_was_probably_meant(line, meant):
    assert parse(line).terms[0].meant == meant


@pytest.mark.parametrize(
    ("line", "reason"),
    [("a" * 2001, "maximum 2,000"), ("a " * 65, "maximum 64"), ("(" * 9 + "a" + ")" * 9, "maximum 8")],
)
def test_a_line_over_a_limit_is_one_problem(line, reason):
    [problem] = parse(line).problems
    assert (problem.start, problem.end) == (0, len(line.rstrip()))
    assert reason in problem.reason


@pytest.mark.parametrize("line", ["a" * 2000, "a " * 64, "(" * 8 + "a" + ")" * 8])
def test_a_line_at_a_limit_is_fine(line):
    assert parse(line).problems == ()


def test_terms_are_what_all_has_to_hold_as_it_was_typed():
    terms = parse('IS:open  (a OR sentiment:angry) -"x y"').terms
    assert [(each.text, each.canonical, bool(each.reason)) for each in terms] == [
        ("IS:open", "is:open", False),
        ("(a OR sentiment:angry)", "(a OR sentiment:angry)", True),
        ('-"x y"', '-"x y"', False),
    ]
    assert terms[1].reason == "sentiment:angry — must be positive or negative"
    assert [each.text for each in parse("a OR b").terms] == ["a OR b"]
    assert [each.text for each in parse("x NOT (a b) -(-c)").terms] == ["x", "NOT (a b)", "c"]
    assert [each.text for each in parse("(a) OR -(b)").terms] == ["(a) OR -(b)"]
    assert parse("").terms == ()


def test_an_id_is_asked_for_alone():
    asked = parse("is:unclaimed sentiment:negative").with_term("fb_01m853j92ren7s7dpb1s5e6eyv")
    assert [term.canonical for term in asked.terms] == ["id:fb_01m853j92ren7s7dpb1s5e6eyv"]


def test_a_term_more_and_a_term_less():
    assert parse("is:open a OR b").without(0).canonical == ""
    assert parse("is:open (a OR b) c").without(0).canonical == "(a OR b) c"
    assert parse("is:open (a OR b)").without(0).canonical == "a OR b"
    assert parse("a OR b").with_term("is:open").canonical == "(a OR b) is:open"
    assert parse("a b").with_term("is:open", at=1).canonical == "a is:open b"
    assert parse("is:open").with_term("IS:OPEN").canonical == "is:open"
    assert parse("is:open").with_term('label:"a b"').canonical == 'is:open label:"a b"'


@pytest.mark.parametrize(
    ("line", "oldest", "newest"),
    [
        ("", "sort:oldest", ""),
        ("a OR b", "(a OR b) sort:oldest", "a OR b"),
        ("(sort:newest is:open)", "is:open sort:oldest", "is:open"),
        ("sort:oldest is:open", "is:open sort:oldest", "is:open"),
    ],
)
def test_an_order_takes_the_place_of_the_one_before(line, oldest, newest):
    assert parse(line).sorted_by(OLDEST).canonical == oldest
    assert parse(line).sorted_by(NEWEST).canonical == newest
    assert parse(parse(line).with_term("sort:oldest").text).order == OLDEST


def test_what_is_misplaced_but_right_is_not_offered_anew():
    assert parse("-sort:oldest").terms[0].meant == ""
    assert parse("sort:oldst").terms[0].meant == "sort:oldest"


DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("said", "first", "end"),
    [
        ("7d", NOW - 7 * DAY, None),
        ("<=7d", NOW - 7 * DAY, None),
        ("<1d", NOW - DAY + timedelta(microseconds=1), None),
        (">2w", None, NOW - 14 * DAY),
        ("1d..2d", NOW - 2 * DAY, NOW - DAY + timedelta(microseconds=1)),
        ("2d..1d", NOW - 2 * DAY, NOW - DAY + timedelta(microseconds=1)),
        ("2026-05-01", datetime(2026, 5, 1, tzinfo=UTC), datetime(2026, 5, 2, tzinfo=UTC)),
        ("2026-12", datetime(2026, 12, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)),
        ("2026", datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)),
        (">2026-05", datetime(2026, 6, 1, tzinfo=UTC), None),
        (">=2026-05", datetime(2026, 5, 1, tzinfo=UTC), None),
        ("<2026-05", None, datetime(2026, 5, 1, tzinfo=UTC)),
        ("<=2026-05", None, datetime(2026, 6, 1, tzinfo=UTC)),
        ("2026-04..2026-05-03", datetime(2026, 4, 1, tzinfo=UTC), datetime(2026, 5, 4, tzinfo=UTC)),
        ("2026-05-03..2026-04", datetime(2026, 4, 1, tzinfo=UTC), datetime(2026, 5, 4, tzinfo=UTC)),
        ("2026-05..2026", datetime(2026, 5, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)),
        ("2026-11-20..2026-11", datetime(2026, 11, 20, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC)),
        ("2026..2026-05", datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC)),
        ("2026-07..2026-05", datetime(2026, 5, 1, tzinfo=UTC), datetime(2026, 8, 1, tzinfo=UTC)),
    ],
)
def test_times(said, first, end):
    assert moments.stretch(moments.clean(said), now=NOW, tz=UTC) == Stretch(first, end)


def test_a_day_begins_where_the_reader_is():
    east = timezone(timedelta(hours=9))
    found = moments.stretch("2026-05-01", now=NOW, tz=east)
    assert found.first == datetime(2026, 4, 30, 15, tzinfo=UTC)


def test_ages_beyond_the_calendar_are_no_error():
    assert moments.stretch(moments.clean(">99999w"), now=NOW, tz=UTC).end is not None


def test_every_field_tells_what_it_is_for_and_takes_what_it_offers():
    for field in FIELDS.values():
        assert field.help.endswith(".")
        assert field.takes
        assert [field.clean(value) for value in field.values] == list(field.values)


@pytest.mark.parametrize(
    ("today", "weeks", "months"),
    [
        ("2026-05-20", ("2026-05-18", "2026-05-11"), ("2026-05-01", "2026-04-01")),
        ("2026-01-01", ("2025-12-29", "2025-12-22"), ("2026-01-01", "2025-12-01")),
        ("2028-03-05", ("2028-02-28", "2028-02-21"), ("2028-03-01", "2028-02-01")),
    ],
)
def test_weeks_begin_with_monday_and_months_have_their_own_length(today, weeks, months):
    """In the reader's zone, where it may be another day, week and month already."""
    tz = zones.named("Pacific/Auckland")
    now = datetime.fromisoformat(f"{today}T00:10").replace(tzinfo=tz).astimezone(UTC)
    for unit, (this, last) in (("week", weeks), ("month", months)):
        begins, before = (datetime.fromisoformat(each).replace(tzinfo=tz) for each in (this, last))
        assert moments.stretch(f"last-{unit}", now=now, tz=tz) == Stretch(before, begins)
        assert moments.stretch(f">=this-{unit}", now=now, tz=tz) == Stretch(begins)
        both = moments.stretch(f"last-{unit}..this-{unit}", now=now, tz=tz)
        assert both.first == before and both.end == moments.stretch(f"this-{unit}", now=now, tz=tz).end


def test_today_and_yesterday_are_days_where_the_reader_is():
    berlin = zones.named("Europe/Berlin")
    late = datetime(2026, 5, 20, 23, tzinfo=UTC)
    today = Stretch(datetime(2026, 5, 21, tzinfo=berlin), datetime(2026, 5, 22, tzinfo=berlin))
    assert moments.stretch("today", now=late, tz=berlin) == today
    assert moments.stretch("today[Europe/Berlin]", now=late, tz=UTC) == today
    assert moments.stretch("yesterday", now=late, tz=UTC).first == datetime(2026, 5, 19, tzinfo=UTC)
    assert moments.stretch(">yesterday", now=late, tz=UTC) == Stretch(datetime(2026, 5, 20, tzinfo=UTC))
    assert moments.stretch("yesterday..today", now=late, tz=UTC).end == datetime(2026, 5, 21, tzinfo=UTC)


def test_a_query_says_whose_days_its_dates_are():
    berlin = zones.named("Europe/Berlin")
    line = 'is:open -Created:today (edited:2026-05 OR resolved:>yesterday) "today" label:today age:<7d created:>1d'
    anchored = parse(f"{line} edited:2026-05-01[Asia/Kolkata]").anchored(berlin)
    assert anchored.text == (
        "is:open -created:today[Europe/Berlin] (edited:2026-05[Europe/Berlin] OR resolved:>yesterday[Europe/Berlin]) "
        '"today" label:today age:<7d created:>1d edited:2026-05-01[Asia/Kolkata]'
    )
    assert anchored.anchored(zones.named("Asia/Tokyo")) is anchored
    assert parse("created:today").anchored(zones.UTC).text == "created:today[UTC]", "not whoever opens its link"


def test_typographic_quotes_are_quotes() -> None:
    """Phones and word processors write them."""
    for asked in ("“never asked”", "„never asked“", "«never asked»", "”never asked”"):
        assert parse(asked).canonical == '"never asked"', asked
    assert parse("label:“tool bug” -by:“Alice Moreno”").canonical == 'label:"tool bug" -by:"Alice Moreno"'
    assert parse("“open").canonical == "“open", "one that is not closed is a character"
