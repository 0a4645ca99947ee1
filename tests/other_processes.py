"""Python, and notebooks, in processes of their own."""

import subprocess
import sys

import pytest


def run_python(*arguments, **options):
    """A finished run that succeeded."""
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, **options)
    assert done.returncode == 0, done.stderr
    return done


def notebook_of(*cells, folder):
    """A notebook with these cells of code, and a client that runs it in a folder."""
    nbformat, nbclient = map(pytest.importorskip, ("nbformat", "nbclient"))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    resources = {"metadata": {"path": folder}}
    return notebook, nbclient.NotebookClient(notebook, timeout=300, resources=resources)
