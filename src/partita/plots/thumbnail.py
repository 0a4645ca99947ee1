"""A small similarity picture that needs no plotting library, for summaries in notebooks."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
from numpy.typing import NDArray

from partita.labels import DrawsLike, Labels
from partita.plots.colours import channels, similarity_colours
from partita.plots.similarity_map import prepare_similarity

_CELLS = 120
_MOST_LABELS = 20_000_000
"""With more labels the picture would take seconds, and a summary is shown often."""


def thumbnail(source: DrawsLike, labels: Labels, n_labels: int) -> str | None:
    """The similarity matrix, ordered by an estimate, as the address of a PNG picture.

    None where it would not be quick. Cost as of :func:`prepare_similarity`.
    """
    if n_labels > _MOST_LABELS:
        return None
    values = prepare_similarity(source, labels, most_cells=_CELLS).values
    scale = np.array([channels(text) for text in similarity_colours()])
    pixels = scale[np.rint(values * 255).astype(int)].astype(np.uint8)
    return f"data:image/png;base64,{base64.b64encode(png(pixels)).decode()}"


def png(pixels: NDArray[np.uint8]) -> bytes:
    """An image of shape (height, width, 3) in the PNG format, 8 bits a channel."""
    height, width, _ = pixels.shape

    def chunk(kind: bytes, content: bytes) -> bytes:
        check = zlib.crc32(kind + content)
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    lines = b"".join(b"\0" + row.tobytes() for row in pixels)  # 0: no filter
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(lines, 9))
        + chunk(b"IEND", b"")
    )
