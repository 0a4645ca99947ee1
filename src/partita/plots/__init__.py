"""Figures for papers, on matplotlib (extra ``plot``).

Each function takes what it shows first, draws into ``ax`` (or ``axes``) or
into a new figure, and returns the axes: ``ax.figure.savefig("figure.pdf")``.
pyplot is never used. What is drawn is prepared apart from the drawing.

Imports what is below; matplotlib is loaded when a figure is drawn. ``palette``,
``colours``, ``similarity_map`` and ``embedding`` need none of it.
"""

from partita.plots.ball_panels import ball
from partita.plots.cluster_counts import n_clusters
from partita.plots.distance_histogram import distances
from partita.plots.estimate_on_data import estimate
from partita.plots.heat_map import similarity
from partita.plots.item_bars import items
from partita.plots.lattice import hasse
from partita.plots.plane import posterior_map
from partita.plots.rank_panels import ranks
from partita.plots.trace_panels import traces

__all__ = [
    "ball",
    "distances",
    "estimate",
    "hasse",
    "items",
    "n_clusters",
    "posterior_map",
    "ranks",
    "similarity",
    "traces",
]
