"""A disk that is full: one error of ours, and nothing left behind."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SCRIPT = """
import resource, sys, signal
sys.dont_write_bytecode = True  # nor may anything else be cut short
import numpy as np, partita as pt
from partita._files import FileAccessError
draws = pt.Draws(np.random.default_rng(0).integers(0, 200, (400, 300)))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    pt.write_draws(draws, sys.argv[1])
except FileAccessError as error:
    print("refused", error)
"""


@pytest.mark.skipif(os.name == "nt", reason="the limit on file sizes is POSIX's")
@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "npy", "npz", "parquet", "nc", "zarr", "rds"])
def test_a_full_disk(tmp_path, suffix):
    command = [sys.executable, "-B", "-c", SCRIPT, str(tmp_path / f"d.{suffix}")]
    env = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("refused"), done.stdout + done.stderr
    assert f"d.{suffix} cannot be written" in done.stdout
    assert os.listdir(tmp_path) == []
