"""The line that says what is being done."""

import numpy as np
import pytest

import partita as pt
from other_processes import notebook_of, run_python
from partita import _progress
from partita._progress import Status


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
