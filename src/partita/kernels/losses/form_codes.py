"""Numbers of the losses' arithmetic, for kernels and for those that call them."""

from __future__ import annotations

VI, BINDER, NVI, ID, NID, OMARI = range(6)
