"""The estimates of several losses side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from partita._optional import require
from partita._result import Result

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class LossComparison(Result):
    """The VI and Binder estimates side by side, as in the paper's tables.

    Attributes
    ----------
    names : tuple of str
        One per estimate: "VI", "Binder", and the loss of the summary when it
        is neither.
    n_clusters : ndarray of int64, shape (n_names,)
    expected_binder, expected_vi_lb, expected_vi : ndarray of float, shape (n_names,)
        Posterior expected losses of each estimate.
    vi_distance, binder_distance : float
        Distances between the VI estimate and the Binder estimate.
    """

    names: tuple[str, ...]
    n_clusters: NDArray[np.int64]
    expected_binder: NDArray[np.float64]
    expected_vi_lb: NDArray[np.float64]
    expected_vi: NDArray[np.float64]
    vi_distance: float
    binder_distance: float

    def to_frame(self) -> pd.DataFrame:
        """One row per estimate."""
        pandas = require("pandas", extra="pandas", purpose="a table of estimates")
        columns = ("n_clusters", "expected_binder", "expected_vi_lb", "expected_vi")
        index = pandas.Index(list(self.names), name="estimate")
        frame: pd.DataFrame = pandas.DataFrame({c: getattr(self, c) for c in columns}, index=index)
        return frame
