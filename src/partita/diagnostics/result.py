"""What is found about convergence."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from partita import _result as html
from partita._result import Result
from partita._text import Kind, counted
from partita.diagnostics.agreement import ChainAgreement
from partita.diagnostics.warnings import disagree
from partita.draws import Draws
from partita.labels import data_frame

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Diagnostics(Result):
    """Convergence of label-invariant quantities of the draws. Made by :func:`diagnose`.

    Attributes
    ----------
    names : tuple of str
        The quantities: n_clusters, entropy, largest_cluster, and where known
        vi_to_estimate, concentration and what else was learned, log_posterior.
    mean, sd, mcse : ndarray of float, shape (n_names,)
        Posterior mean, standard deviation, and Monte Carlo standard error of the mean.
    ess_bulk, ess_tail : ndarray of float, shape (n_names,)
        Effective sample sizes for the mean and for the 5% and 95% quantiles.
    rhat : ndarray of float, shape (n_names,)
        Rank-normalised split R-hat; NaN where undefined.
    n_chains, n_draws : int
    agreement : ChainAgreement or None
        Between chains; None when there is one chain or draws are weighted.
    warnings : tuple of str
        What is wrong and what to do; empty when nothing is.
    notes : tuple of str
        How numbers were made when it was not the usual way.
    drift_average_sd, drift_maximal_sd : float
        Between the halves and quarters of a chain: standard deviations of the
        pair probabilities beyond chance, of the chain where they are largest.
        NaN where not compared: weighted draws, very short chains.
    drift_moved : float
        Share of the items that change clusters between two such parts, clusters
        matched one to one, beyond the share within them and beyond chance; or between
        any two draws, beyond the share from one of 64 that are compared to the next.
    kind : "posterior" or "ensemble"
        Of the draws. Of an ensemble there are no quantities.

    Examples
    --------
    >>> import numpy as np, partita as pt
    >>> labels = np.random.default_rng(0).integers(0, 3, size=(2_000, 12))
    >>> checks = pt.diagnose(pt.Draws(labels, chain=np.repeat([0, 1, 2, 3], 500)))
    >>> checks.names
    ('n_clusters', 'entropy', 'largest_cluster')
    >>> bool((checks.ess_bulk[1:] > 400).all()), checks.warnings
    (True, ())
    """

    names: tuple[str, ...]
    mean: NDArray[np.float64]
    sd: NDArray[np.float64]
    mcse: NDArray[np.float64]
    ess_bulk: NDArray[np.float64]
    ess_tail: NDArray[np.float64]
    rhat: NDArray[np.float64]
    n_chains: int
    n_draws: int
    agreement: ChainAgreement | None
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    drift_average_sd: float = float("nan")
    drift_maximal_sd: float = float("nan")
    drift_moved: float = float("nan")
    kind: Kind = "posterior"

    @property
    def ok(self) -> bool:
        """Whether there is nothing to warn about."""
        return not self.warnings

    @property
    def chains_disagree(self) -> bool:
        """Whether the chains disagree on which items belong together."""
        return self.agreement is not None and disagree(self.agreement)

    def to_frame(self) -> pd.DataFrame:
        """One row per quantity."""
        names = ("mean", "sd", "mcse", "ess_bulk", "ess_tail", "rhat")
        columns = {name: getattr(self, name) for name in names}
        return data_frame(columns, of="diagnostics", index=list(self.names), name="quantity")

    def __repr__(self) -> str:
        if self.kind == "ensemble":
            return f"<Diagnostics: {self._of_ensemble()}>"
        state = "nothing to warn about" if self.ok else counted(len(self.warnings), "warning")
        return (
            f"<Diagnostics: {counted(self.n_chains, 'chain')}, {counted(self.n_draws, 'draw')}, "
            f"{len(self.names)} quantities, {state}>"
        )

    def _of_ensemble(self) -> str:
        return f"none for {counted(self.n_draws, 'run')} of an ensemble"

    def __str__(self) -> str:
        if self.kind == "ensemble":
            return f"Diagnostics: {self._of_ensemble()}"
        lines = [f"{'':<16}{'mean':>10}{'sd':>9}{'mcse':>9}{'ESS':>8}{'tail':>8}{'R-hat':>8}"]
        for j, name in enumerate(self.names):
            lines.append(
                f"{name:<16}{self.mean[j]:>10.4g}{self.sd[j]:>9.3g}{self.mcse[j]:>9.2g}"
                f"{self.ess_bulk[j]:>8.0f}{self.ess_tail[j]:>8.0f}{self.rhat[j]:>8.3f}"
            )
        for sign, texts in (("! ", self.warnings), ("  ", self.notes)):
            for text in texts:
                lines += wrap(text, 80, initial_indent=sign, subsequent_indent="  ")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        if self.kind == "ensemble":
            return html.title(f"Diagnostics: {self._of_ensemble()}")
        state = "nothing to warn about" if self.ok else counted(len(self.warnings), "warning")
        columns = (self.mean, self.sd, self.mcse, self.ess_bulk, self.ess_tail, self.rhat)
        forms = (".4g", ".3g", ".2g", ",.0f", ",.0f", ".3f")
        rows = [
            [name, *(format(column[j], form) for column, form in zip(columns, forms, strict=True))]
            for j, name in enumerate(self.names)
        ]
        return (
            html.title(f"Diagnostics of {counted(self.n_draws, 'draw')}: {state}")
            + "".join(map(html.warning, self.warnings))
            + html.table(["", "mean", "sd", "mcse", "ESS", "tail ESS", "R-hat"], rows)
            + "".join(map(html.note, self.notes))
        )


def nothing_to_diagnose(draws: Draws) -> Diagnostics:
    """The diagnostics of an ensemble, whose runs are no chain."""
    none = np.empty(0)
    return Diagnostics(
        names=(),
        mean=none,
        sd=none,
        mcse=none,
        ess_bulk=none,
        ess_tail=none,
        rhat=none,
        n_chains=draws.n_chains,
        n_draws=draws.n_draws,
        agreement=None,
        warnings=(),
        notes=(),
        kind=draws.kind,
    )
