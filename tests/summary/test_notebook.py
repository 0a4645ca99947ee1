"""Results as a notebook shows them."""

from __future__ import annotations

import base64
import io
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

import partita as pt
from partita.plots._similarity import png

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def summary():
    rng = np.random.default_rng(0)
    labels = np.where(rng.random((200, 8)) < 0.2, 2, np.repeat([0, 1], 4))
    names = [HOSTILE, *"bcdefgh"]
    draws = pt.Draws(labels, chain=np.repeat([0, 1], 100), item_names=names)
    return pt.summarize(draws, progress=False)


def shown(value):
    """The text of well-formed HTML without scripts."""
    text = value._repr_html_()
    assert "<script" not in text
    tree = ET.fromstring(f"<div>{re.sub(r'<img[^>]*>', '', text)}</div>")
    return " ".join("".join(tree.itertext()).split())


def test_a_summary_is_a_small_page(summary):
    text = shown(summary)
    assert summary.sentence in text
    assert "Warning" not in text or summary.diagnostics.warnings
    address = re.search("src='data:image/png;base64,([^']+)'", summary._repr_html_())[1]
    from PIL import Image

    assert Image.open(io.BytesIO(base64.b64decode(address))).size == (8, 8)


def test_warnings_come_first(summary):
    warned = replace(summary, diagnostics=replace(summary.diagnostics, warnings=("not & yet",)))
    text = shown(warned)
    assert text.index("Warning. not & yet") < text.index("Estimate")
    assert "For your paper, once the warnings are resolved" in text


def test_a_png_is_read_back():
    from PIL import Image

    pixels = np.random.default_rng(0).integers(0, 256, (5, 7, 3)).astype(np.uint8)
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(png(pixels)))), pixels)
