"""Result classes: what the functions of partita return. Nobody needs to construct one.

They load on first use; ``results.pyi`` lists them.
"""

from partita._imports import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
