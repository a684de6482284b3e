"""The words of generated texts: common ones first, rare ones last."""

from itertools import accumulate
from random import Random

_COMMON = (
    "the order was and it did not for my say that with refund flight date number is wrong price but asked when answer "
    "seat bag hotel ticket change name card email twice again late never still only after before customer total paid"
)
_RARE = (
    "voucher itinerary layover cabin upgrade insurance invoice currency booking passport visa shuttle canoe marmalade "
    "harmonica lantern periscope gondola trombone saffron obsidian quilt thimble walnut zeppelin accordion barometer "
    "cardamom dulcimer easel foxglove gazebo hammock indigo juniper kayak lilac mandolin nutmeg origami parsley quince "
    "rosemary sextant tulip umbrella vinegar whistle xylophone yarrow zither anchovy beetroot cobalt damson"
)
WORDS = tuple(f"{_COMMON} {_RARE}".split())
_WEIGHTS = tuple(accumulate(1 / (place + 2) for place in range(len(WORDS))))
TOOLS = (
    "get_order_details", "get_user_details", "search_direct_flight", "book_reservation", "cancel_reservation",
    "calculate", "send_certificate", "update_baggage", "transfer_to_human", "list_airports",
)  # fmt: skip
MODELS = ("simulated", "small", "large")
ERRORS = ("provider_timeout", "provider_overloaded", "context_too_long")
LABELS = ("wording", "refunds", "tool bug", "prompt", "latency", "policy", "duplicate?", "docs", "billing", "to check")


def sentence(random: Random, shortest: int, longest: int) -> str:
    """Random words, mostly common ones."""
    said = random.choices(WORDS, cum_weights=_WEIGHTS, k=random.randint(shortest, longest))
    return f"{' '.join(said).capitalize()}."
