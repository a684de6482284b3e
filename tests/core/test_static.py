"""What is collected of static files."""

from pathlib import Path

from django.core.files.base import ContentFile

from core.static import HashedStorage

SHEET = b"""/*! Of somebody else. */
/* A sheet
   of ours. */
a::before { content: "/* no comment */"; } /* behind */ b { color: red; } /* and */
c::after { content: '\\'/*'; }
"""


def test_stylesheets_are_collected_without_their_comments(tmp_path: Path) -> None:
    """But for those that ask to be kept; scripts stay as they are."""
    storage = HashedStorage(location=tmp_path)
    assert storage.save("one.css", ContentFile(SHEET)) == "one.css"
    assert (tmp_path / "one.css").read_text() == (
        '/*! Of somebody else. */\na::before { content: "/* no comment */"; } b { color: red; } c::after '
        "{ content: '\\'/*'; }\n"
    )
    storage.save("two.js", ContentFile(b"/* stays */"))
    assert (tmp_path / "two.js").read_bytes() == b"/* stays */"
