"""One experiment: data, draws, the paper's two estimates and ours, balls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from partita.credible.ball import credible_ball
from partita.credible.ball_result import CredibleBall
from partita.datasets import four_normals, galaxies
from partita.partitions.draws import Draws
from partita.reproduce.measures import measure_bounds, measure_estimate, monte_carlo_errors
from partita.reproduce.plan import Plan
from partita.samplers.fit import Fit
from partita.samplers.normal import NormalInverseGamma
from partita.samplers.sample import sample
from partita.search.estimate import estimate
from partita.search.result import PointEstimate

Kind = Literal["binder", "vi", "exact"]
"""Binder's loss; VI as in the paper, which minimises VI_LB; the expected VI itself."""

OBJECTIVES: dict[Kind, str] = {"binder": "binder", "vi": "vi_lb", "exact": "vi"}
MINIMISED = {"binder": "expected_binder", "vi": "expected_vi_lb", "exact": "expected_vi"}
"""The column of Table 1 that each estimate minimises."""


@dataclass(frozen=True, eq=False)
class Data:
    """Observations, the clusters they came from where known, and the kernel of the model."""

    values: NDArray[np.float64]
    truth: NDArray[Any] | None
    kernel: NormalInverseGamma | None
    """None: the paper's empirical rule."""


@dataclass(frozen=True, eq=False)
class Experiment:
    """Results on one data set."""

    data: Data
    fit: Fit
    estimates: dict[Kind, PointEstimate]
    balls: dict[Kind, CredibleBall]

    @property
    def draws(self) -> Draws:
        """The draws everything is computed from."""
        return self.fit.draws

    def row(self, kind: Kind, n_jobs: int | None) -> dict[str, float]:
        """Columns of Tables 1 and 3 of one estimate; without a ball those of Table 1."""
        found = measure_estimate(self.estimates[kind].labels, self.draws, self.data.truth, n_jobs)
        return found | (measure_bounds(self.balls[kind]) if kind in self.balls else {})

    def errors(self, kind: Kind, n_jobs: int | None) -> dict[str, float]:
        """Monte Carlo standard errors, where there are any."""
        found = monte_carlo_errors(self.estimates[kind].labels, self.draws, n_jobs)
        if kind in self.balls:
            found["horizontal_distance"] = self.balls[kind].radius_mcse
        return found


def paper_kernel() -> NormalInverseGamma:
    """The base measure of the simulated examples: μ0 = 0, c = 1/2, a = 2, b = 1."""
    return NormalInverseGamma(mean=0, precision=0.5, shape=2, rate=1)


def simulated(example: int, n: int, plan: Plan, repeat: int) -> Data:
    """A data set of Example 1 or 2; repeat 0 is the one shown."""
    made = four_normals(
        example=example, n=n, rng=np.random.default_rng(plan.stream(1, example, n, repeat))
    )
    return Data(made.data, made.labels, paper_kernel())


def galaxy_data() -> Data:
    """The velocities, with the paper's empirical rule for the kernel."""
    return Data(galaxies(), None, None)


def sampled(data: Data, plan: Plan, *key: int) -> Fit:
    """Draws for the data, from the random stream that the key names."""
    return sample(
        data.values,
        kernel=data.kernel,
        draws=plan.draws,
        burn_in=plan.burn_in,
        chains=plan.chains,
        rng=np.random.default_rng(plan.stream(*key)),
        n_jobs=plan.n_jobs,
        progress=False,
    )


def run(
    data: Data,
    plan: Plan,
    *key: int,
    kinds: tuple[Kind, ...] = ("binder", "vi"),
    with_balls: bool = True,
    prove: bool = False,
) -> Experiment:
    """Sample, estimate, and find the balls of the paper's two estimates.

    ``key`` names the random stream; ``prove`` adds lower bounds to the estimates.
    """
    fit = sampled(data, plan, 2, *key)
    bound: Literal["fast"] | None = "fast" if prove else None
    estimates: dict[Kind, PointEstimate] = {
        kind: estimate(fit.draws, loss=OBJECTIVES[kind], bound=bound, **plan.search)
        for kind in kinds
    }
    metrics: dict[Kind, str] = {"binder": "binder", "vi": "vi"} if with_balls else {}
    balls = {
        kind: credible_ball(fit.draws, estimates[kind].labels, loss=metric, n_jobs=plan.n_jobs)
        for kind, metric in metrics.items()
    }
    return Experiment(data, fit, estimates, balls)


def paper_search(experiment: Experiment, kind: Kind, plan: Plan) -> dict[str, float]:
    """Columns of Table 1 of what the paper's greedy search finds on the same draws."""
    found = estimate(
        experiment.draws,
        loss=OBJECTIVES[kind],
        method="hasse",
        n_starts=plan.starts,
        bound=None,
        **plan.search,
    )
    return measure_estimate(found.labels, experiment.draws, experiment.data.truth, plan.n_jobs)
