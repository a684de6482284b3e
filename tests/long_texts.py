"""Texts with more words, or more of the same word, than PostgreSQL keeps positions of, and phrases at their ends."""

ENGLISH = "The train is at the station. " * 300 + "At last the zeppelin landed."
THAI = "รถไฟมาถึงสถานีแล้ว ขอบคุณครับ " * 200 + "เรือเหาะลงจอด"
JAPANESE = "電車は駅の前に着きました。" * 400 + "飛行船は町の上にいる。"
CHINESE = "火车在车站的前面停下来了。" * 1500 + "飞艇降落。"

PHRASES = {
    "english": (ENGLISH, "the zeppelin landed", "zeppelin the landed"),
    "thai": (THAI, "เรือเหาะ", "เหาะเรือ"),
    "japanese": (JAPANESE, "飛行船は", "船飛行は"),
    "chinese": (CHINESE, "飞艇降落", "降落飞艇"),
    **{f"the {count}": ("the " * count + "zeppelin", "the zeppelin", "zeppelin the") for count in range(254, 258)},
}
"""Texts with a phrase that they contain, and one of the same words that they do not."""
