"""Formulas as MathML, which browsers draw themselves: the pages need no network and no script."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

log = logging.getLogger(__name__)


def _write(writer: Any, node: nodes.Element, *, block: bool) -> None:
    text = node.astext()
    if block and r"\\" not in text:
        text = " ".join(text.split())
    try:
        found = tex2mathml(text, as_block=block)
    except MathError as error:
        log.warning("formula %r: %s", text, error, location=node)
        found = f"<code>{writer.encode(text)}</code>"
    writer.body.append(f'<div class="formula">{found}</div>' if block else found)
    raise nodes.SkipNode


def _inline(writer: Any, node: nodes.math) -> None:
    _write(writer, node, block=False)


def _display(writer: Any, node: nodes.math_block) -> None:
    _write(writer, node, block=True)


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer under the name ``mathml``."""
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
