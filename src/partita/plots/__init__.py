"""Figures for papers, on matplotlib (extra ``plot``).

Each function takes what it shows first, draws into ``ax`` (or ``axes``) or
into a new figure, and returns the axes: ``ax.figure.savefig("figure.pdf")``.
Notebooks show it; where pyplot is in use it is pyplot's current figure. What
is drawn is prepared apart from the drawing.

Figures load on first use, and matplotlib when one is drawn; ``__init__.pyi`` lists them.
"""

from partita._imports import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
