"""One clock: a time limit and Ctrl-C end the work within, and what is finished is returned."""

import numpy as np
import pytest

import partita as pt
from partita._resources import Clock
from partita.credible import uncertainty
from partita.credible.uncertainty import compare

RNG = np.random.default_rng(0)
LABELS = RNG.integers(0, 4, (60, 24))


def test_ctrl_c_in_a_search_ends_the_work_around_it():
    with Clock(None) as outer, outer:
        inner = Clock(None)
        with inner.until() as flag:
            assert not flag[0]
            inner.interrupt()
            assert flag[0]
    assert outer.is_up()
    assert outer.left == 0.0
    assert not Clock(None).is_up()


def test_a_flag_for_kernels_is_set_at_its_share_of_the_time(monkeypatch):
    clock = Clock(10.0)
    monkeypatch.setattr("partita._resources.time.monotonic", lambda: clock.start + 6.0)
    with clock.until(0.5) as half, clock.until() as whole:
        assert half[0]
        assert not whole[0]
    clock.interrupt()
    with clock.until() as whole:
        assert whole[0]


def test_a_comparison_is_whole_or_not_there():
    clock = Clock(None)
    clock.interrupt()
    with pytest.raises(KeyboardInterrupt):
        compare(pt.canonical(LABELS[0]), pt.Draws(LABELS), clock=clock)


def test_a_comparison_of_many_chunks_of_items_ends_between_them(monkeypatch):
    """Sums of many clusters are large: to go through those of chunks without any takes seconds."""
    calls, compared = [], uncertainty._compare_block

    def at_once(block, *, stop, **more):
        calls.append(more["items"])
        stop[0] = True
        return compared(block, stop=stop, **more)

    monkeypatch.setattr(uncertainty, "_compare_block", at_once)
    monkeypatch.setattr(uncertainty, "_SUM_BYTES", 16 * 62)  # two items
    with pytest.raises(KeyboardInterrupt):
        compare(np.arange(60, dtype=np.int32), pt.Draws(np.arange(60)[None]), n_jobs=1)
    assert len(calls) < 30


def test_ctrl_c_under_one_loss_ends_the_others(monkeypatch):
    limits, search = [], pt.estimate

    def interrupted(*given, **more):
        limits.append(more["time_limit"])
        Clock(None).interrupt()
        return search(*given, **more)

    monkeypatch.setattr("partita.search.compare_losses.estimate", interrupted)
    found = pt.compare_losses(LABELS, losses=["vi", "binder", "nvi"])
    assert limits[0] is None
    assert all(limit is not None for limit in limits[1:])
    assert len(found.estimates) == 3


def test_ctrl_c_in_one_part_of_a_summary_ends_the_rest(monkeypatch):
    from partita.summary import summarize as module

    make = module._for_comparison

    def interrupted(*given):
        Clock(None).interrupt()
        return make(*given)

    monkeypatch.setattr(module, "_for_comparison", interrupted)
    cut = pt.summarize(LABELS, path=True, progress=False)
    assert cut.missing == ("price path", "curve over numbers of clusters")
