"""The result of sampling: draws with a trace, the model and the data."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._archive import (
    Form,
    MissingClassError,
    described,
    read_archive,
    restored,
    write_archive,
)
from partita._files import PathLike
from partita._imports import require, version_of
from partita._result import Page, Result, clipped
from partita._validate import Rng, between, generator, integer
from partita._wording import counted, span
from partita.credible.profiles import Profiles, evenly_spaced
from partita.draws import Draws
from partita.errors import FileFormatError, NotSupportedError
from partita.kernels.arrays import Array, Floats
from partita.labels import DataSource, LabelsLike
from partita.samplers.base import ClusterParameters, Kernel, mixed_moments
from partita.samplers.chains import (
    SAMPLERS,
    Display,
    Model,
    Progress,
    Run,
    Settings,
    advance_all,
    build_model,
    read_state,
    runner,
    settings_dict,
    state_arrays,
)
from partita.samplers.predict import Predictions, Simulations, profile
from partita.samplers.priors import PartitionPrior

if TYPE_CHECKING:
    from partita.samplers.compare import ChainStacking


@dataclass(frozen=True, repr=False, eq=False)
class Fit(Simulations, Predictions, Result):
    """Posterior draws of a mixture model.

    Attributes
    ----------
    draws : Draws
        Partitions of the items, with chain ids.
    trace : mapping of str to ndarray, shape (n_chains, n_draws)
        "n_clusters", "log_posterior" (log density of data, partition and what is learned: it does
        not rank chains, :meth:`stack_chains` does); for process priors "concentration"; for finite
        mixtures "n_components" and, if learned, "weight"; and "rate of <column>" or "scale of
        <column>" where they are learned.
    kernel, prior : Kernel, PartitionPrior
        The model, with everything that was left open filled in.
    values : ndarray of float, shape (n_items, n_columns)
        The data as the kernel saw them; categories as numbers of their levels.
    columns : tuple of str
        Names of the data's columns.
    settings : Settings
        How the run was made.
    notes : tuple of str
        What was chosen for the user, and what went differently than asked.
    seconds : float
        Time of the run.
    interrupted : bool
        Whether Ctrl-C ended it.
    state : Progress or None
        Where the chains stand, for :meth:`extend`.

    Examples
    --------
    >>> import partita as pt
    >>> fit = pt.sample(pt.datasets.galaxies(), draws=200, burn_in=100, chains=2, rng=0)
    >>> fit.trace["concentration"].shape
    (2, 200)
    >>> fit.density([10.0, 20.0, 30.0]).mean.shape
    (3,)
    >>> fit.cluster_parameters(fit.draws.labels[0])["mean"].columns
    ('0',)
    """

    draws: Draws
    trace: Mapping[str, Array]
    kernel: Kernel
    prior: PartitionPrior
    values: Floats
    columns: tuple[str, ...]
    settings: Settings
    notes: tuple[str, ...]
    seconds: float
    interrupted: bool
    state: Progress | None = None

    def __repr__(self) -> str:
        chains, kept = self.trace["n_clusters"].shape
        low, high = int(self.draws.n_clusters.min()), int(self.draws.n_clusters.max())
        lines = [
            f"<Fit: {counted(chains, 'chain')} × {kept:,} draws of "
            f"{self.draws.n_items:,} items, {span(low, high, 'cluster')}",
            f"  {clipped(self.kernel)}",
            f"  {clipped(self.prior)}",
            *(f"  {note}" for note in self.notes),
        ]
        return "\n".join(lines) + ">"

    def _page(self) -> Page:
        chains, kept = self.trace["n_clusters"].shape
        low, high = int(self.draws.n_clusters.min()), int(self.draws.n_clusters.max())
        lines = [
            ("draws", f"{counted(chains, 'chain')} × {kept:,}, {span(low, high, 'cluster')}"),
            ("kernel", clipped(self.kernel)),
            ("prior", clipped(self.prior)),
        ]
        head = f"Fit of a mixture to {counted(self.draws.n_items, 'item')}"
        return Page(head, lines, notes=self.notes)

    def __draws__(self) -> Draws:
        return self.draws

    def cluster_parameters(self, labels: LabelsLike) -> ClusterParameters:
        """Posterior mean and variance of each cluster's parameters, given a partition.

        The paper's stars and ellipses: the posterior means of a cluster's mean and variance. A
        learned rate is integrated out given that partition.

        Parameters
        ----------
        labels : array_like, shape (n_items,)
            A partition, such as an estimate.
        """
        vector = self._by_size(labels)
        sizes = np.bincount(vector).astype(np.int64)
        fixed = self.kernel.given(self.values, vector)
        found = [kernel.moments(self.values, vector, self.columns) for kernel in fixed]
        return ClusterParameters(sizes, mixed_moments(found))

    def profiles(
        self,
        labels: LabelsLike,
        *,
        prob: float = 0.95,
        n_draws: int = 1_000,
        rng: Rng | None = None,
    ) -> Profiles:
        """Parameters of each cluster of a partition, column by column.

        In two ways. *Given* the partition: the exact conjugate posterior of the parameters of its
        clusters. *Averaged*: θ_C is the mean over the items i of C of θ of i's cluster in the draw,
        so that the uncertainty of the clustering is in it; its mean is that of the conjugate means,
        its interval comes from one draw of the parameters for each draw of the partition. Label
        switching cannot enter.

        Parameters
        ----------
        labels : array_like, shape (n_items,)
            A partition, such as an estimate.
        prob : float in (0, 1), default 0.95
            Probability of the intervals.
        n_draws : int, default 1000
            Draws to average over, evenly spaced; all where there are fewer.
        rng : int, SeedSequence or Generator, optional
            Seed of the parameters drawn.

        Returns
        -------
        Profiles
            "mean" and "sd" of normal columns, "rate" of counts, "share of …" of levels. Under a
            kernel that defines no ``moments``, those of :func:`partita.profiles`: means and sds
            of the data.

        Notes
        -----
        One ``Kernel.moments`` per draw, O(N·d) each. Intervals given the partition are NaN where a
        variance has none itself; a learned rate is integrated out on 64 values of it.

        Examples
        --------
        >>> import partita as pt
        >>> fit = pt.sample(pt.datasets.galaxies(), draws=200, burn_in=100, chains=2, rng=0)
        >>> fit.profiles(fit.draws.labels[0]).parameter[:2]
        ('mean', 'sd')
        """
        kept, rates = self.draws, self._rates()
        if kept.n_draws > integer(n_draws, "n_draws", least=1):
            chosen = evenly_spaced(kept.n_draws, n_draws)
            kept, rates = kept._take(chosen), rates[chosen]
        return profile(
            self.kernel,
            self.values,
            self.columns,
            kept,
            self._by_size(labels),
            rates=rates,
            prob=between(prob, "prob", 0, 1),
            rng=generator(rng),
        )

    def reweighted(self, prior: PartitionPrior) -> Draws:
        """The draws with weights for another prior of the partition, without sampling again.

        Under kernels with parameters of their own for each cluster the likelihood of a partition
        does not depend on its prior, so that draws under p are draws under p' with weights
        ∝ p'(c)/p(c). A learned concentration or weight is integrated out of both.

        Parameters
        ----------
        prior : PartitionPrior
            Any: a process, a finite mixture, a product prior, one of your own.

        Returns
        -------
        Draws
            Weighted, with chains and names. ``reweighting`` has the effective number of draws,
            k-hat, and the log ratio of the evidences with its Monte Carlo error.

        Raises
        ------
        ReweightingError
            Below 100 effective draws or above k-hat 0.7; see :meth:`Draws.reweighted`.

        Notes
        -----
        :func:`partita.prior_sensitivity` does this over a grid of priors. Cost O(M·N).

        Examples
        --------
        >>> import partita as pt
        >>> one, half = pt.DirichletProcess(1.0), pt.DirichletProcess(0.5)
        >>> data = pt.datasets.galaxies()
        >>> fit = pt.sample(data, kernel="empirical", prior=one, draws=500, chains=2, rng=0)
        >>> under_half = fit.reweighted(half)
        >>> under_half.reweighting.n_effective > 100
        True
        >>> bool(under_half.weights @ under_half.n_clusters < fit.draws.n_clusters.mean())
        True
        """
        return self.draws.reweighted(prior=prior, from_prior=self.prior)

    def stack_chains(
        self, new_data: DataSource | None = None, *, n_jobs: int | None = None
    ) -> ChainStacking:
        """Weigh the chains by how well they predict, where they disagree.

        Chains that never meet describe different modes, and their equal shares of the draws say
        nothing about which is right. Stacking maximises Σ_i log Σ_c w_c p(x_i | chain c) over
        weights w of the chains, on rows that the chain has not seen: it is the mixture of the
        chains that predicts best, not their posterior masses. Do not rank chains by
        ``trace["log_posterior"]``: the density of one partition leaves out how many partitions
        share a mode, and was highest in the worst chains where it was measured.

        Parameters
        ----------
        new_data : array_like or table, optional
            Rows that were held out, with columns as in the data. When omitted, each row is
            predicted from all others, by importance sampling of the draws.
        n_jobs : int, optional
            Threads; by default every core.

        Returns
        -------
        ChainStacking
            Weights, log densities by chain, and the weighted draws, for which it stands wherever
            draws are taken.

        Notes
        -----
        Leave-one-out: 1/p(x_i | x_−i) is the posterior mean of 1/p(x_i | x_−i, c_−i), the item's
        own cluster summed out, with Pareto-smoothed weights; at most 2,000 rows and 1,000 draws of
        each chain, evenly spaced. Cost O(draws · rows · K · d). The weights come from an EM
        algorithm for a concave problem.

        References
        ----------
        Yao, Y., Vehtari, A. and Gelman, A. (2022), Stacking for non-mixing Bayesian computations:
        the curse and blessing of multimodal posteriors. Journal of Machine Learning Research 23.

        Examples
        --------
        >>> import partita as pt
        >>> fit = pt.sample(pt.datasets.galaxies(), draws=100, burn_in=100, chains=2, rng=0)
        >>> stacked = fit.stack_chains()
        >>> stacked.weights.shape, round(float(stacked.weights.sum()), 6)
        ((2,), 1.0)
        """
        from partita.samplers.compare import stack_chains

        return stack_chains(self, new_data, n_jobs)

    def to_arviz(self) -> Any:
        """The draws for the installed ArviZ, with dimensions (chain, draw) and (…, item).

        Group ``posterior`` holds ``labels``, ``n_clusters`` and all that was learned,
        ``sample_stats`` holds ``lp``, the log posterior density.

        Returns
        -------
        DataTree, or InferenceData where the installed ``arviz`` is older than 1.0
            The older ArviZ takes nothing else. ``["posterior"]["labels"]`` reads both.
        """
        base = require("arviz_base", extra="arviz", purpose="to_arviz()")
        chains, kept = self.trace["n_clusters"].shape
        posterior = {name: self.trace[name] for name in self.trace if name != "log_posterior"}
        labels = self.draws.labels.reshape(chains, kept, self.draws.n_items)
        tree = base.from_dict(
            {
                "posterior": {"labels": labels.astype(np.int64), **posterior},
                "sample_stats": {"lp": self.trace["log_posterior"]},
            },
            dims={"labels": ["item"]},
        )
        return _for_installed_arviz(tree)

    def extend(self, *, draws: int, n_jobs: int | None = None, progress: bool | None = None) -> Fit:
        """Go on sampling where this fit stopped, also after Ctrl-C.

        Parameters
        ----------
        draws : int
            Draws to add to each chain.
        n_jobs, progress
            As for :func:`partita.sample`.

        Returns
        -------
        Fit
            All draws, the new ones after the old in each chain: what a single run of that length
            gives.

        Examples
        --------
        >>> import partita as pt
        >>> fit = pt.sample(pt.datasets.galaxies(), draws=50, burn_in=20, chains=2, rng=0)
        >>> fit.extend(draws=30).draws.n_draws
        160
        """
        more = integer(draws, "draws", least=1)
        if self.state is None:
            raise NotSupportedError(
                "this fit does not know where its chains stood (rows on workers, or a file of "
                "version 0.1), so they cannot go on. Sample again."
            )
        chains, there = self.trace["n_clusters"].shape
        settings = replace(self.settings, draws=there + more)
        model = build_model(self.kernel, self.prior, self.values)
        start = time.perf_counter()
        with Display(settings, self.state.done, progress, ()) as display:
            advance = runner(model, n_jobs)
            reached, interrupted = advance_all(settings, self.state, advance, display.update)
        if not reached.n_draws:
            return self
        item_names, n_items = self.draws.item_names, self.draws.n_items
        new, trace = collect_draws(reached, model, self.kernel, self.columns, item_names)
        # Chain by chain, the old draws and then the new ones.
        joined = {
            name: np.concatenate([old, trace[name]], axis=1) for name, old in self.trace.items()
        }
        labels = [part.labels.reshape(chains, -1, n_items) for part in (self.draws, new)]
        return replace(
            self,
            draws=_draws(np.concatenate(labels, axis=1), joined, item_names),
            trace=MappingProxyType(joined),
            settings=settings,
            seconds=self.seconds + time.perf_counter() - start,
            interrupted=interrupted,
            state=reached.without_draws(),
        )

    def save(self, path: PathLike, *, overwrite: bool = False) -> None:
        """Write the fit to one file, atomically and without pickle; see :meth:`load`."""
        meta = {
            "kernel": described(self.kernel),
            "prior": described(self.prior),
            "settings": settings_dict(self.settings),
            "columns": self.columns,
            "item_names": self.draws.item_names,
            "notes": self.notes,
            "seconds": self.seconds,
            "interrupted": self.interrupted,
        }
        arrays = {"labels": self.draws.labels, "values": self.values}
        arrays |= {f"trace_{name}": values for name, values in self.trace.items()}
        if self.state is not None:
            meta["done"] = self.state.done
            arrays |= state_arrays(self.state)
        write_archive(path, _FIT, meta, arrays, overwrite=overwrite)

    @staticmethod
    def load(path: PathLike) -> Fit:
        """Read a fit that :meth:`save` wrote."""
        return load_fit(path)


STARTED = "each chain started from"
"""How a note on the start of chains begins."""

Trace = Mapping[str, Array]


def collect_draws(
    reached: Progress,
    model: Model,
    kernel: Kernel,
    columns: tuple[str, ...],
    item_names: tuple[str, ...] | None,
) -> tuple[Draws, Trace]:
    """Draws and traces of a run, finished or not."""
    trace = traces(reached, model, kernel, columns)
    return _draws(reached.labels(), trace, item_names), trace


def traces(reached: Progress, model: Model, kernel: Kernel, columns: tuple[str, ...]) -> Trace:
    """Traces of a run, finished or not."""
    scalars = reached.scalars()
    trace: dict[str, Array] = {}
    if model.prior.parameter is not None:
        trace[model.prior.parameter] = scalars[:, :, 0].copy()
    extras = scalars[:, :, 4:]
    if model.prior.has_components:
        trace["n_components"] = extras[:, :, 0].astype(np.int64)
        extras = extras[:, :, 1:]
    rates = kernel.learned_names(columns)
    trace |= {name: extras[:, :, r].copy() for r, name in enumerate(rates)}
    trace["n_clusters"] = scalars[:, :, 1].astype(np.int64)
    constant = model.log_base + model.prior.constant
    trace["log_posterior"] = scalars[:, :, 2] + scalars[:, :, 3] + constant
    return MappingProxyType(trace)


def _draws(labels: Array, trace: Trace, item_names: tuple[str, ...] | None) -> Draws:
    """Draws from canonical labels of shape (chain, draw, item)."""
    chains, kept, n_items = labels.shape
    return Draws._from_canonical(
        labels.reshape(-1, n_items),
        trace["n_clusters"].reshape(-1),
        chain=np.repeat(np.arange(chains), kept),
        item_names=item_names,
    )


def _for_installed_arviz(tree: Any) -> Any:
    generation = version_of("arviz").partition(".")[0]
    if not generation.isdigit() or int(generation) >= 1:  # not installed, or takes trees
        return tree
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # ArviZ on its own refactoring, daily
        arviz = require("arviz", extra="arviz", purpose="to_arviz()")
    return arviz.from_datatree(tree)


# ------------------------------------------------------------------ files


_FIT = Form("partita fit", 2)

_MOST = 1_000_000_000
"""Draws, iterations and moves beyond which a file is damaged: no run would have ended."""


def _check(
    values: Array,
    columns: tuple[str, ...],
    draws: Draws,
    trace: dict[str, Array],
    kernel: Kernel,
    prior: PartitionPrior,
) -> None:
    """Check what kernels rely on: shapes, ranges, finite numbers; raises ValueError."""
    if values.dtype != np.float64 or values.shape != (draws.n_items, len(columns)):
        raise ValueError(
            f"the values are {values.dtype} of shape {values.shape}, expected float64 of shape "
            f"({draws.n_items}, {len(columns)})"
        )
    kernel.check_encoded(values)
    shape = trace["n_clusters"].shape
    for name, found in trace.items():
        if found.shape != shape or found.dtype.kind not in "iuf" or not np.isfinite(found).all():
            raise ValueError(f"the trace {name!r} is not {shape} finite numbers")
    if not np.array_equal(trace["n_clusters"].reshape(-1), draws.n_clusters):
        raise ValueError("the trace 'n_clusters' is not that of the draws")
    tables = prior.tables(draws.n_items)
    parameter = tables.parameter
    if parameter is not None and not (trace[parameter] > prior.least_parameter()).all():
        raise ValueError(f"the trace {parameter!r} is out of range")
    if tables.is_learned and not (trace["n_components"] >= trace["n_clusters"]).all():
        raise ValueError("the trace 'n_components' is out of range")
    learned = kernel.learned_names(columns)
    if odd := {name for name in trace if " of " in name} - set(learned):
        raise ValueError(f"the trace {min(odd)!r} is not of this kernel")
    for name in learned:
        if not (trace[name] > 0).all():
            raise ValueError(f"the trace {name!r} is out of range")


def _state_of(
    meta: dict[str, Any], arrays: dict[str, Array], kept: int, run: Run
) -> Progress | None:
    """Where the chains stood; None in files of version 0.1."""
    done = meta.get("done")
    if done is None:
        return None
    if run.settings.kept(integer(done, "done")) != kept:
        raise ValueError(f"done={done!r}, which does not give {kept} draws")
    states = tuple(read_state(arrays, c, run) for c in range(run.settings.chains))
    return Progress(done, states, ((),) * len(states))


def _settings(found: dict[str, Any], chains: int) -> Settings:
    """How the run was made; raises where a number could not have been asked for."""
    settings = Settings(**found)
    least = {"draws": 1, "burn_in": 0, "thin": 1, "chains": 1, "sweeps": 0, "split_merge": 0}
    for name, low in least.items():
        integer(getattr(settings, name), name, least=low, most=_MOST)
    if settings.sampler not in SAMPLERS:
        raise ValueError(f"the sampler {settings.sampler!r} is unknown")
    if settings.chains != chains:
        raise ValueError(f"{settings.chains} chains are noted and {chains} are there")
    return settings


def load_fit(path: PathLike) -> Fit:
    """Read a fit back."""
    meta, arrays = read_archive(path, _FIT)
    try:
        trace = {
            name.removeprefix("trace_"): values
            for name, values in arrays.items()
            if name.startswith("trace_")
        }
        chains, kept = trace["n_clusters"].shape
        draws = Draws(
            arrays["labels"],
            chain=np.repeat(np.arange(chains), kept),
            item_names=meta.get("item_names"),
        )
        kernel = restored(Kernel, *meta["kernel"])
        prior = restored(PartitionPrior, *meta["prior"])
        settings = _settings(meta["settings"], chains)
        values, columns = arrays["values"], tuple(meta["columns"])
        _check(values, columns, draws, trace, kernel, prior)
        return Fit(
            draws,
            MappingProxyType(trace),
            kernel,
            prior,
            values,
            columns,
            settings,
            tuple(meta["notes"]),
            float(meta["seconds"]),
            bool(meta["interrupted"]),
            _state_of(meta, arrays, kept, Run(kernel, prior, values, settings)),
        )
    except MissingClassError:
        raise
    except Exception as error:  # kernels and priors have errors of their own
        raise FileFormatError(f"{path} is not a complete partita fit: {error}.") from error
