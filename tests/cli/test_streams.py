"""Processes of their own: streams, terminals, pipes, Ctrl-C, exit codes."""

import os
import re
import signal
import struct
import subprocess
import time

import numpy as np
import pytest

import partita as pt
from cli.conftest import PROGRAM, start

pty = pytest.importorskip("pty", reason="terminals of this kind are POSIX's")
fcntl = pytest.importorskip("fcntl")
termios = pytest.importorskip("termios")

ESCAPE = "\x1b["


def on_terminal(arguments, columns, *, stderr=subprocess.DEVNULL, **environment):
    """What a command writes to a terminal of that width; its standard error goes elsewhere."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS", "LINES")}
    process = subprocess.Popen(
        [*PROGRAM, *arguments],
        stdin=slave,
        stdout=slave,
        stderr=stderr or slave,
        env={**env, "TERM": "xterm-256color", **environment},
    )
    os.close(slave)
    pieces = []
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # how Linux ends a terminal whose last user has gone
            break
        if not piece:
            break
        pieces.append(piece)
    os.close(master)
    assert process.wait(timeout=60) == 0
    return b"".join(pieces).decode().replace("\r\n", "\n")


@pytest.mark.parametrize("environment", [{}, {"NO_COLOR": "1"}])
def test_a_terminal_gets_colours_and_its_own_width(place, environment):
    text = on_terminal(["summarize", "draws.csv"], 50, **environment)
    assert (ESCAPE in text) == (not environment)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert max(len(line) for line in plain.splitlines()) <= 50
    assert "3 clusters of sizes" in " ".join(plain.split())


def test_progress_is_shown_on_a_terminal(place):
    arguments = ["fit", "data.csv", "--columns", "x", "--draws", "400", "--out", "f"]
    text = on_terminal(arguments, 100, stderr=None)
    assert re.search(r"4 chains .* [\d,]+/[\d,]+ .*clusters", text)


def test_a_reader_that_has_seen_enough(place):
    process = start("convert", "draws.csv", "-")
    process.stdout.close()  # as head does
    stderr = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) == 1
    assert stderr == ""


def test_a_terminal_without_unicode(place):
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    process = start("summarize", "draws.csv", env=environment, encoding="latin-1")
    stdout, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    assert "3 clusters of sizes" in stdout


def pressed_until_it_ends(process):
    """Ctrl-C, again where Python lost one: it cannot be raised in a callback or a destructor."""
    for _ in range(20):
        process.send_signal(signal.SIGINT)
        try:
            return process.communicate(timeout=6)[1]
        except subprocess.TimeoutExpired:
            continue
    process.kill()
    return process.communicate()[1]


def test_ctrl_c_while_reading(place):
    os.mkfifo("pipe.csv")
    process = start("summarize", "pipe.csv", "--out", "results")
    with open("pipe.csv", "w") as writer:  # opens when the command does
        writer.write("a,b,c\n1,1,2\n")
        writer.flush()
        stderr = pressed_until_it_ends(process)
    assert process.returncode == 130
    assert stderr.strip() == "partita: interrupted; this command did not finish."
    assert not (place / "results").exists()


def wait_for(condition, seconds=120.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def has_draws(path):
    try:
        with np.load(path) as archive:
            return "labels_0" in archive.files
    except (FileNotFoundError, ValueError, EOFError):
        return False


@pytest.fixture
def endless(place):
    process = start(
        *("fit", "data.csv", "--columns", "x,y", "--burn-in", 200, "--draws", 10**7, "--thin", 200),
        *("--chains", 2, "--checkpoint", "run.npz", "--checkpoint-every", 0.1, "--out", "f"),
    )
    yield process
    if process.poll() is None:
        process.kill()
        process.communicate()


def test_ctrl_c_while_sampling_keeps_the_draws(place, endless):
    wait_for(lambda: has_draws("run.npz"))
    endless.send_signal(signal.SIGINT)
    stdout, stderr = endless.communicate(timeout=120)
    assert endless.returncode == 130
    assert "draws of each chain were made" in stderr
    assert "Traceback" not in stderr
    kept = pt.read_draws("f/draws.npz")
    assert 0 < kept.n_draws < 10**7
    assert "Estimate from " in stdout
    assert (place / "f" / "labels.csv").exists()
    assert (place / "f" / "report.html").exists()
    hidden = [p.name for p in place.iterdir() if p.name.startswith(".")]
    assert hidden == []
