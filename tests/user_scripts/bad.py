"""A user's script with one mistake in every line that says so."""

from __future__ import annotations

import numpy as np

import partita as pt

draws = np.zeros((10, 4), dtype=np.int64)

pt.estimat(draws)  # wrong: attr-defined
pt.estimate(draws, lossy="vi")  # wrong: call-overload
pt.estimate(draws, bound="tighter")  # wrong: call-overload
pt.estimate(draws, "vi")  # wrong: call-overload
pt.estimate(draws, rng="seed")  # wrong: call-overload
print(pt.estimate(draws).lables)  # wrong: attr-defined
pt.credible_ball(draws, [0, 0, 1, 1], prob="0.95")  # wrong: arg-type
pt.credible_ball(draws)  # wrong: call-arg
pt.distance([0, 1], [0, 1], loss=2)  # wrong: arg-type
clusters: str = pt.n_clusters([0, 1])  # wrong: assignment
pt.summarize(draws).to_html()  # wrong: call-arg
pt.plots.similarty(draws)  # wrong: attr-defined
pt.sample(object())  # wrong: arg-type
pt.sample(draws, initial=object())  # wrong: arg-type
pt.sample(draws, engine=3)  # wrong: arg-type
pt.credible_core(draws).completed(loss=3)  # wrong: arg-type
pt.plots.core(3)  # wrong: arg-type
pt.plots.profiles(3)  # wrong: arg-type
pt.profiles(draws, draws[0], data=object())  # wrong: arg-type
pt.summarize(draws).plot(fit=3)  # wrong: arg-type
pt.summarize(draws).plot(axes=3)  # wrong: arg-type
pt.NormalInverseGamma.empirical(object())  # wrong: arg-type
pt.Product.empirical(object())  # wrong: arg-type
pt.representatives(draws, rng="seed")  # wrong: arg-type
