"""Time limits, Ctrl-C and progress: work ends within them, and what is finished is returned."""

import numpy as np
import pytest

import partita as pt
from other_processes import notebook_of, run_python
from partita import _progress
from partita._progress import Status
from partita._resources import Clock
from partita.credible import uncertainty
from partita.credible.uncertainty import compare
from partita.summary import summarize as module

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
    make = module._for_comparison

    def interrupted(*given):
        Clock(None).interrupt()
        return make(*given)

    monkeypatch.setattr(module, "_for_comparison", interrupted)
    cut = pt.summarize(LABELS, path=True, progress=False)
    assert cut.missing == ("price path", "curve over numbers of clusters")


@pytest.mark.parametrize(
    ("wanted", "delay", "shown"),
    [(True, 0.0, True), (True, 60.0, False), (False, 0.0, False), (None, 0.0, False)],
    ids=["wanted", "short work", "not wanted", "no terminal"],
)
def test_it_is_shown_when_wanted_and_only_for_work_that_lasts(
    monkeypatch, capsys, wanted, delay, shown
):
    monkeypatch.setattr(_progress, "_DELAY", delay)
    with Status("estimate", wanted) as status:
        status.say("sweeping, 1 of 4")
        status.say("sweeping, 2 of 4")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert ("sweeping" in captured.err) == shown


def test_a_search_reports_what_it_does(monkeypatch, capsys):
    monkeypatch.setattr(_progress, "_DELAY", 0.0)
    labels = np.random.default_rng(0).integers(0, 4, (30, 20))
    pt.estimate(labels, progress=True)
    assert "estimate:" in capsys.readouterr().err


def test_compiling_is_said(tmp_path):
    script = tmp_path / "first.py"
    script.write_text(
        "from partita import _progress\n"
        "from partita.kernels._jit import kernel\n"
        "from partita.kernels import listeners\n"
        "_progress._DELAY = 0.0\n"
        "def plus_one(x):\n"
        "    return x + 1\n"
        "with _progress.Status('estimate', True):\n"
        "    assert kernel(plus_one)(1) == 2\n"
        "assert not listeners\n",
        encoding="utf-8",
    )
    done = run_python(script, cwd=tmp_path)
    assert "compiling for this machine (first run only), function 1" in done.stderr


def test_a_notebook_shows_progress_by_default_and_leaves_no_line(tmp_path):
    code = (
        "from partita import _progress\n_progress._DELAY = 0.0\n"
        "with _progress.Status('estimate') as status:\n"
        "    status.say('sweeping')\n    status.say('moving')"
    )
    notebook, client = notebook_of(code, folder=tmp_path)
    seen = []
    with client.setup_kernel():
        original = client.process_message

        def spy(message, cell, index):
            if message["msg_type"] in ("display_data", "update_display_data"):
                seen.append(message["content"]["data"]["text/plain"])
            return original(message, cell, index)

        client.process_message = spy
        client.execute_cell(notebook.cells[0], 0)
    assert [text.split(" (")[0] for text in seen] == ["estimate: sweeping", "estimate: moving", ""]
