"""Makes ``own_draws/``: draws of partita's sampler, and golden numbers on them.

The golden numbers come from the reference implementations (``tests/reference``),
which share no code with the package: expected losses of the best partition found
under each loss, and credible balls around the minimiser of VI. From the root of
the project: ``PYTHONPATH=src:tests:. python tests/data/make_own_draws.py``.
"""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np

import partita as pt
from reference import losses, uncertainty

HERE = Path(__file__).parent / "own_draws"
LOSSES = ("vi", "binder", "nvi", "id", "nid", "one_minus_ari", "vi_lb", "one_minus_pear")


def main() -> None:
    HERE.mkdir(exist_ok=True)
    made = pt.datasets.four_normals(example=1, n=200, rng=1)
    kernel = pt.NormalInverseGamma(mean=0, precision=0.5, shape=2, rate=1)
    cases = {
        "example1": (made.data, {"kernel": kernel}, {"truth": made.labels}),
        "galaxies": (pt.datasets.galaxies(), {"kernel": "empirical"}, {}),
    }
    golden = {}
    for name, (data, options, more) in cases.items():
        fit = pt.sample(data, chains=4, draws=100, burn_in=1_000, thin=10, rng=1, **options)
        labels = fit.draws.labels.astype(np.uint8)
        np.savez_compressed(HERE / f"{name}.npz", labels=labels, data=data, **more)
        golden[name] = numbers(labels.tolist())
    (HERE / "golden.json").write_text(json.dumps(golden) + "\n", encoding="utf-8")


def numbers(rows: list[list[int]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for loss in LOSSES:
        best = pt.estimate(rows, loss=loss, bound=None, n_starts=64).labels.tolist()
        found[loss] = {"labels": best, "expected_loss": losses.expected(loss, best, rows)}
        if loss in ("vi", "binder"):
            ball = uncertainty.ball(rows, best, Fraction(95, 100), loss)
            found[loss] |= {
                "radius": float(ball["radius"]),
                "coverage": float(ball["coverage"]),
                "bounds": {
                    part: sorted(map(list, ball[part])) for part in ("upper", "lower", "horizontal")
                },
            }
        print(loss, found[loss]["expected_loss"], flush=True)
    return found


if __name__ == "__main__":
    main()
