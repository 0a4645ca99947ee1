"""Figures for papers, on matplotlib (extra ``plot``).

Each function takes what it shows first, draws into ``ax`` (or ``axes``) or
into a new figure, and returns the axes: ``ax.figure.savefig("figure.pdf")``.
Notebooks show it; where pyplot is in use it is pyplot's current figure. What
is drawn is prepared apart from the drawing.

Imports what is below; matplotlib is loaded when a figure is drawn. ``colours``,
``similarity_map`` and ``embedding`` need none of it.
"""

from partita.plots.ball import ball
from partita.plots.clusters_curve import clusters_curve
from partita.plots.core import core
from partita.plots.distances import distances
from partita.plots.estimate import estimate
from partita.plots.hasse import hasse
from partita.plots.items import items
from partita.plots.n_clusters import n_clusters
from partita.plots.overview import overview
from partita.plots.persistence import persistence
from partita.plots.posterior_map import posterior_map
from partita.plots.price_path import price_path
from partita.plots.profiles import profiles
from partita.plots.ranks import ranks
from partita.plots.replicates import replicates
from partita.plots.representatives import representatives
from partita.plots.representatives_curve import representatives_curve
from partita.plots.similarity import similarity
from partita.plots.traces import traces

__all__ = [
    "ball",
    "clusters_curve",
    "core",
    "distances",
    "estimate",
    "hasse",
    "items",
    "n_clusters",
    "overview",
    "persistence",
    "posterior_map",
    "price_path",
    "profiles",
    "ranks",
    "replicates",
    "representatives",
    "representatives_curve",
    "similarity",
    "traces",
]
