"""partita: from posterior draws of clusterings to a clustering you can report.

Point estimates that minimise a posterior expected loss, with a proof of how
good they are, and credible balls around them, after Wade and Ghahramani,
"Bayesian cluster analysis: Point estimation and credible balls".

Names load on first use, so ``import partita`` is light; ``__init__.pyi`` lists them.
"""

from partita._imports import __version__, lazy_names, moved_name

_load, _dir, _names = lazy_names(__name__, __file__)
__all__ = ["__version__", *_names]


def __getattr__(name: str) -> object:
    return _load(name) if name in _names else moved_name(name)


def __dir__() -> list[str]:
    return sorted(__all__)
