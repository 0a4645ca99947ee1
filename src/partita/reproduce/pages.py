"""A page of tables and figures, as Markdown and as HTML."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from unicodedata import combining


@dataclass(frozen=True)
class PageTable:
    """Cells as text; the first column names the row."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Figure:
    """A picture in a file beside the page."""

    title: str
    file: str


@dataclass(frozen=True)
class Section:
    """A heading, what to know, then tables and figures."""

    title: str
    text: tuple[str, ...] = ()
    tables: tuple[PageTable, ...] = ()
    figures: tuple[Figure, ...] = ()


@dataclass(frozen=True)
class Page:
    """Everything that is written."""

    title: str
    text: tuple[str, ...]
    sections: tuple[Section, ...]


def table_text(table: PageTable) -> str:
    """A table in Markdown with its columns aligned, to be read on a terminal too."""
    lines = [table.header, *table.rows]
    widths = [max(_width(line[j]) for line in lines) for j in range(len(table.header))]

    def line(cells: tuple[str, ...]) -> str:
        padded = [
            cell + " " * (width - _width(cell)) for cell, width in zip(cells, widths, strict=True)
        ]
        return f"| {' | '.join(padded)} |"

    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    body = "\n".join([line(table.header), rule, *(line(row) for row in table.rows)])
    note = f"\n\n{table.note}" if table.note else ""
    return f"**{table.title}**\n\n{body}{note}\n"


def _width(text: str) -> int:
    """Columns on a terminal: the tilde of B̃ stands above its letter."""
    return sum(not combining(letter) for letter in text)


def section_text(section: Section) -> str:
    """One section in Markdown."""
    parts = [f"## {section.title}\n", *(f"{text}\n" for text in section.text)]
    parts += [table_text(table) for table in section.tables]
    parts += [f"![{figure.title}]({figure.file})\n\n{figure.title}\n" for figure in section.figures]
    return "\n".join(parts)


def to_markdown(page: Page) -> str:
    """The page in Markdown."""
    head = [f"# {page.title}\n", *(f"{text}\n" for text in page.text)]
    return "\n".join([*head, *(section_text(section) for section in page.sections)])


_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem;
       color: #262626; }
div.table { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.85rem; margin: 0.5rem 0; }
caption { text-align: left; font-weight: 600; padding: 0.4rem 0; }
th, td { padding: 0.15rem 0.7rem 0.15rem 0; text-align: left; border-bottom: 1px solid #ddd;
         white-space: nowrap; }
td:last-child { white-space: normal; }
figure { margin: 1.5rem 0; } figure img { max-width: 100%; }
"""


def to_html(page: Page) -> str:
    """The page in HTML; figures are the files beside it, nothing comes from elsewhere."""
    body = [f"<h1>{escape(page.title)}</h1>", *_paragraphs(page.text)]
    for section in page.sections:
        body += [f"<h2>{escape(section.title)}</h2>", *_paragraphs(section.text)]
        body += [_html_table(table) for table in section.tables]
        body += [_html_figure(figure) for figure in section.figures]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(page.title)}</title><style>{_STYLE}</style></head>\n<body>\n"
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def _paragraphs(text: tuple[str, ...]) -> list[str]:
    return [f"<p>{escape(paragraph)}</p>" for paragraph in text]


def _html_table(table: PageTable) -> str:
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in table.header)
    rows = "\n".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows
    )
    note = f"<p>{escape(table.note)}</p>" if table.note else ""
    return (
        f'<div class="table"><table><caption>{escape(table.title)}</caption>'
        f"<thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table></div>{note}"
    )


def _html_figure(figure: Figure) -> str:
    title = escape(figure.title)
    return (
        f'<figure><img src="{escape(figure.file)}" alt="{title}">'
        f"<figcaption>{title}</figcaption></figure>"
    )
