"""Colours and marker shapes of clusters, told apart by colour-blind readers as well.

Needs NumPy only, so that everything which shows clusters can use it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

Shape = Literal["circle", "square", "triangle", "diamond", "inverted_triangle", "hex", "plus"]

COLOURS: tuple[str, ...] = (
    *("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#F0E442", "#404040"),
    *("#2D0078", "#0000D2", "#B4D2B4", "#C31EFF", "#785A69", "#874B00", "#78E1FF", "#2D2D00"),
    *("#692D96", "#A5B487", "#4B004B", "#D200B4", "#E1C369", "#9687FF", "#5A3C00", "#2D3C69"),
)
"""Okabe and Ito's colours (black as dark grey, apart from text), then 16 more.

Each of the 16 is the colour farthest from white and all earlier ones, in OKLab, for the nearest
pair as seen with normal, protanopic, deuteranopic or tritanopic vision. No pair is closer under
red-green blindness than the closest pair of the first eight.
"""

SHAPES: tuple[Shape, ...] = get_args(Shape)
"""One per eight colours, so that clusters of similar colours differ in shape."""

_PER_SHAPE = 8

OTHER = "#BDBDBD"
"""Light grey, for what belongs to no cluster."""


_TOGETHER = ("#FFFFFF", "#FDDDB0", "#F98E6A", "#D6456C", "#8C2981", "#45107A", "#0B0724")


def similarity_colours() -> list[str]:
    """256 colours of similarities from 0 to 1, the same in every figure and in the report.

    White for never together, and ever darker, so that it survives a copy in black and white.
    """
    return mixed_colours(_TOGETHER, 256)


def mixed_colours(scale: Sequence[str], n: int) -> list[str]:
    """So many colours, as ``#RRGGBB``, evenly along a scale."""
    stops = np.array([channels(c) for c in scale])
    at = np.linspace(0.0, len(scale) - 1.0, max(n, 2))[:n]
    mixed = [np.interp(at, np.arange(len(scale)), channel) for channel in stops.T]
    return ["#{:02X}{:02X}{:02X}".format(*row) for row in np.rint(mixed).astype(int).T.tolist()]


def channels(text: str) -> list[int]:
    """Red, green and blue of ``#RRGGBB``, from 0 to 255."""
    return [int(text[i : i + 2], 16) for i in (1, 3, 5)]


def colour(index: int) -> str:
    """Colour of the cluster with a colour index, as ``#RRGGBB``; they repeat after 24.

    Examples
    --------
    >>> from partita.plots.palette import colour, shape
    >>> colour(0), shape(0), shape(8)
    ('#0072B2', 'circle', 'square')
    """
    return COLOURS[index % len(COLOURS)]


def shape(index: int) -> Shape:
    """Marker shape of the cluster with a colour index; with its colour unique below 168."""
    return SHAPES[index // _PER_SHAPE % len(SHAPES)]


def is_dark(text: str) -> bool:
    """Whether writing on a colour must be white to be legible."""
    seen = np.array(channels(text)) / 255.0
    linear = np.where(seen <= 0.04045, seen / 12.92, ((seen + 0.055) / 1.055) ** 2.4)
    luminance = float(linear @ np.array([0.2126, 0.7152, 0.0722]))
    # Where contrast with white and with black, as WCAG 2 defines it, are equal.
    return luminance < 0.179
