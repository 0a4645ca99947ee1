"""What must hold of every figure: nothing overlaps and nothing is cut off."""

from itertools import combinations

import numpy as np
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text


def written(figure):
    """Every text that can be seen, with its box on the canvas."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    hidden = set()
    for axis in figure.findobj(Axis):
        low, high = sorted(axis.get_view_interval())
        room = 1e-9 * (high - low)
        for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
            if not low - room <= tick.get_loc() <= high + room:
                hidden |= {id(tick.label1), id(tick.label2)}
    texts = [
        text
        for text in figure.findobj(Text)
        if text.get_visible() and text.get_text().strip() and id(text) not in hidden
    ]
    boxes = [(text.get_text(), text.get_window_extent(renderer)) for text in texts]
    return [(text, box) for text, box in boxes if box.width > 0 and box.height > 0]


def overlaps(boxes, *, slack=1.0):
    """Pairs of texts whose boxes share more than ``slack`` pixels both ways."""
    found = []
    for (a, one), (b, two) in combinations(boxes, 2):
        wide = min(one.x1, two.x1) - max(one.x0, two.x0)
        high = min(one.y1, two.y1) - max(one.y0, two.y0)
        if wide > slack and high > slack:
            found.append((a, b))
    return found


def cut_off(boxes, width, height, *, slack=1.0):
    """Texts that leave the figure."""
    return [
        text
        for text, box in boxes
        if box.x0 < -slack or box.y0 < -slack or box.x1 > width + slack or box.y1 > height + slack
    ]


def assert_tidy(figure):
    """Legible as drawn."""
    boxes = written(figure)
    assert overlaps(boxes) == []
    assert cut_off(boxes, *figure.canvas.get_width_height()) == []


def texts_of(figure):
    return [text for text, _ in written(figure)]


def noisy_draws(n_items, n_clusters, *, n_draws=200, noise=0.15, seed=0):
    """Draws around a true partition, in which some items are uncertain."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n_items) % n_clusters
    labels = np.tile(truth, (n_draws, 1))
    uncertain = rng.random(n_items) < 2 * noise
    moved = (rng.random(labels.shape) < 0.5) & uncertain
    labels[moved] = (labels[moved] + 1) % n_clusters
    return labels, truth
