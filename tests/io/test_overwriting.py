"""One rule for everything that writes: a file that exists is replaced only when asked."""

from __future__ import annotations

import numpy as np
import pytest

import partita as pt
from partita._files import FileOverwriteError

ONE, OTHER = np.array([[0, 0, 1], [0, 1, 1]]), np.array([[0, 0, 0], [0, 1, 1]])


def summary(labels):
    return pt.summarize(labels, progress=False)


WRITERS = {
    "summary.npz": lambda labels, path, **how: summary(labels).save(path, **how),
    "summary.json": lambda labels, path, **how: summary(labels).to_json(path, **how),
    "report.html": lambda labels, path, **how: summary(labels).to_html(path, **how),
    **dict.fromkeys(
        ("draws.npz", "draws.zarr", "draws.csv", "draws.npy", "draws.csv.gz"), pt.write_draws
    ),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_that_exists_is_replaced_only_when_asked(name, tmp_path):
    path = tmp_path / name

    def content():
        return path.read_bytes() if path.is_file() else pt.read_draws(path).labels.tobytes()

    WRITERS[name](ONE, path)
    first = content()
    for labels in (ONE, OTHER):
        with pytest.raises(FileOverwriteError, match="overwrite=True"):
            WRITERS[name](labels, path)
        assert content() == first
    WRITERS[name](OTHER, path, overwrite=True)
    assert content() != first
