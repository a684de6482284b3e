"""The effect of a call on a world's state, derived from the tool's name and arguments (C105, C108, C109)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from core.canonical import canonical_json, fingerprint

Action = Literal["create", "read", "list", "update", "delete"]
_ACTIONS: Final[Mapping[str, Action]] = {
    **dict.fromkeys(("create", "add", "book", "register", "insert"), "create"),
    **dict.fromkeys(("get", "find", "fetch", "read", "show", "lookup"), "read"),
    **dict.fromkeys(("list", "search"), "list"),
    **dict.fromkeys(("update", "modify", "set", "change"), "update"),
    **dict.fromkeys(("delete", "cancel", "remove"), "delete"),
}
_WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
MAX_ID: Final = 200
_ENDINGS: Final = (
    ("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"), ("zzes", "zz"), ("oes", "o"),
    ("theses", "thesis"), ("yses", "ysis"), ("gnoses", "gnosis"), ("ss", "ss"), ("us", "us"), ("is", "is"), ("s", ""),
)  # fmt: skip
_IN_E: Final = (
    "ache axe brownie cache calorie canoe cookie die foe headache hoodie impasse lie lingerie movie mousse niche pie "
    "prairie quiche rookie selfie shoe smoothie tie toe tranche zombie"
)
"""Words in -e whose plural ends like that of others."""
_IN_S: Final = (
    "alias atlas bias bonus bus cactus campus canvas census chorus circus consensus corpus focus gas lens minibus news "
    "prospectus radius series species status stylus surplus syllabus virus"
)
_IN_A_VOWEL: Final = "api cpu emoji gpu gui kiwi kpi menu poi ski sku taxi uri wiki"
"""Words whose plural ends like the singular of others."""
_SINGULARS: Final[Mapping[str, str]] = {
    **{f"{word}s": word for word in f"{_IN_E} {_IN_A_VOWEL}".split()},
    **{plural: word for word in _IN_S.split() for plural in (word, f"{word}es")},
    **{"analyses": "analysis", "appendices": "appendix", "axes": "axis", "children": "child", "crises": "crisis"},
    **{"criteria": "criterion", "feet": "foot", "geese": "goose", "indices": "index", "matrices": "matrix"},
    **{"men": "man", "mice": "mouse", "oases": "oasis", "people": "person", "quizzes": "quiz", "teeth": "tooth"},
    **{"vertices": "vertex", "women": "woman"},
    **{"calves": "calf", "elves": "elf", "halves": "half", "hooves": "hoof", "knives": "knife", "leaves": "leaf"},
    **{"lives": "life", "loaves": "loaf", "scarves": "scarf", "selves": "self", "shelves": "shelf", "thieves": "thief"},
    **{"wives": "wife", "wolves": "wolf"},
}


@dataclass(frozen=True, slots=True)
class Reading:
    """`action` None: the state is not involved. `noun` is empty if the name is one word."""

    action: Action | None
    noun: str

    @property
    def id_name(self) -> str:
        """The argument with the entity's id."""
        return f"{self.noun}_id"

    def given_id(self, arguments: Mapping[str, Any]) -> Any:
        """The id in the arguments: `<noun>_id`, `id`, or the only argument there is; None without any."""
        for name in (self.id_name, "id"):
            if name in arguments:
                return arguments[name]
        only = next(iter(arguments.values())) if len(arguments) == 1 else None
        return only if isinstance(only, str | int) else None


def reading_of(name: str, arguments: Mapping[str, Any]) -> Reading:
    """`cancel_pending_order` with an `order_id` deletes an order; without one, a pending_order."""
    verb, *rest = [word.lower() for word in _WORD.findall(name)] or [""]
    action = _ACTIONS.get(verb)
    whole = "_".join(rest)
    named = [each[:-3] for each in arguments if each.endswith("_id") and f"_{each[:-3]}_" in f"_{whole}_"]
    # The longest, then alphabetically first, so that the order of arguments does not matter.
    noun = max(sorted(named), key=len, default="") or _singular(whole)
    return Reading(action if noun else None, noun[:128])


def id_of(value: Any, noun: str) -> Any:
    """The id in a result: `id`, `<noun>_id`, or that of the object under the noun; None without any."""
    if not isinstance(value, dict):
        return None
    for name in ("id", f"{noun}_id"):
        if isinstance(value.get(name), str | int):
            return value[name]
    return id_of(value[noun], noun) if isinstance(value.get(noun), dict) else None


def text_of(given: Any) -> str:
    """An id as stored: the number 7 and the text 7 are equal."""
    text = given if isinstance(given, str) else canonical_json(given)
    return text if len(text) <= MAX_ID else fingerprint(text)


def _singular(noun: str) -> str:
    """The noun with its last word in the singular: `create_movie` and `list_movies` are about the same."""
    before, joint, word = noun.rpartition("_")
    return f"{before}{joint}{_SINGULARS.get(word) or _by_ending(word)}"


def _by_ending(word: str) -> str:
    ending, instead = next((each for each in _ENDINGS if word.endswith(each[0])), ("", ""))
    return word.removesuffix(ending) + instead
