"""The data of the paper's examples.

Imports NumPy only.
"""

from partita.datasets.four_normals import FourNormals, four_normals
from partita.datasets.galaxies import galaxies

__all__ = ["FourNormals", "four_normals", "galaxies"]
