"""Pages in Markdown and HTML."""

from __future__ import annotations

from html.parser import HTMLParser

from partita.reproduce.pages import (
    Figure,
    Page,
    PageTable,
    Section,
    table_text,
    to_html,
    to_markdown,
)

TABLE = PageTable("Numbers <1>", ("value", "B̃"), (("a & b", "0.1"), ("longer", "12")), "A note.")
PAGE = Page(
    "Title", ("Intro.",), (Section("One", ("Text.",), (TABLE,), (Figure("Fig", "f/x.svg"),)),)
)


def test_a_table_is_aligned_on_a_terminal():
    lines = [line for line in table_text(TABLE).splitlines() if line.startswith("|")]
    assert lines[0] == "| value  | B̃   |"  # the tilde takes no column of its own
    assert lines[2:] == ["| a & b  | 0.1 |", "| longer | 12  |"]


def test_markdown_has_every_part():
    text = to_markdown(PAGE)
    for part in ("# Title", "Intro.", "## One", "Text.", "**Numbers <1>**", "A note."):
        assert part in text
    assert "![Fig](f/x.svg)" in text


class Cells(HTMLParser):
    def __init__(self):
        super().__init__()
        self.texts, self.sources, self.open = [], [], []

    def handle_starttag(self, tag, attrs):
        self.sources += [value for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data.strip())


def test_html_is_well_formed_escaped_and_asks_for_nothing_else():
    parser = Cells()
    parser.feed(to_html(PAGE))
    assert parser.open == []
    assert parser.sources == ["f/x.svg"]
    for text in ("Title", "Numbers <1>", "a & b", "longer", "A note."):
        assert text in parser.texts
