"""Checks for losses, priors and kernels that users bring: by enumeration, as partita's own are.

Imports everything below ``summary``.
"""

from partita.testing.kernels import check_kernel
from partita.testing.losses import check_loss
from partita.testing.priors import check_prior

__all__ = ["check_kernel", "check_loss", "check_prior"]
