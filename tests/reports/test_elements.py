"""Elements: whatever is put in comes out as text."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.files.printing import shown_text
from circuitproof.reports.elements import RawText, el, json_source, render, table
from circuitproof.reports.plain import WIDTH, as_text


class Words(HTMLParser):
    """Collects the text and the attributes of one element."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.text, self.found = "", []

    def handle_starttag(self, tag, attrs):
        """Remember what a tag carries."""
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data):
        """Remember text."""
        self.text += data


@given(st.text(st.characters(exclude_characters="\r\x00", exclude_categories=["Cs"])))
def test_text_and_attributes_come_back_as_they_were(text):
    """A browser reads just what was put in, and no element more."""
    words = Words()
    words.feed(render(el("p", text, title=text)))
    words.close()
    assert (words.text, words.found) == (text, [("p", {"title": text})])


@given(st.recursive(st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_json_in_a_script_cannot_end_it(value):
    """Whatever the names are, no sign of markup stands in the data."""
    assert not set("<>&") & set(json_source(value).text)


def test_a_source_that_could_end_its_element_is_refused():
    """Our own script is written so that it cannot."""
    with pytest.raises(ValueError, match="could end its element"):
        RawText("let a = '</script>'")


@given(st.lists(st.tuples(st.text(), st.text(), st.text()), min_size=1), st.text())
def test_text_never_exceeds_its_columns(rows, title):
    """Long words are broken, wide tables are narrowed."""
    shown = [tuple(shown_text(cell, most=300) for cell in row) for row in rows]
    tree = el("main", el("h2", shown_text(title)), table(("a", "b#", "c"), shown), el("p", shown_text(title)))
    assert max(map(len, as_text(tree).splitlines()), default=0) <= WIDTH


@given(st.text())
def test_untrusted_text_prints_on_one_line(text):
    """Line ends, control signs and marks of direction are spelled out."""
    assert shown_text(text).isprintable()
    assert len(shown_text(text)) <= 11 * 61
