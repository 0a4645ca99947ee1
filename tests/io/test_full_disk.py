"""A disk that is full: one error of ours, and nothing left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

SUFFIXES = ["csv", "csv.gz", "npy", "npz", "parquet", "nc", "zarr", "rds"]

SCRIPT = """
import json, os, resource, sys, signal
sys.dont_write_bytecode = True  # nor may anything else be cut short
import numpy as np, partita as pt
from partita._files import FileAccessError
draws = pt.Draws(np.random.default_rng(0).integers(0, 200, (400, 300)))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
said = {}
for suffix in sys.argv[1:]:
    try:
        pt.write_draws(draws, f"d.{suffix}")
    except FileAccessError as error:
        said[suffix] = [str(error), os.listdir()]
print(json.dumps(said))
"""


@pytest.mark.skipif(os.name == "nt", reason="the limit on file sizes is POSIX's")
def test_a_full_disk(tmp_path):
    env = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, "-B", "-c", SCRIPT, *SUFFIXES],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env=env,
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert list(said) == SUFFIXES
    for suffix, (message, left_behind) in said.items():
        assert f"d.{suffix} cannot be written" in message
        assert left_behind == []
