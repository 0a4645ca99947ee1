"""``partita core`` and profiles on the command line."""

from __future__ import annotations

import csv
import json

from click.testing import CliRunner

import partita as pt
from partita.cli.options import cli

FIVE = "a,b,c,d,e,f\n1,1,2,2,3,3\n1,1,2,2,2,3\n1,1,1,2,2,2\n1,1,2,2,2,2\n1,2,2,3,3,3\n"


def test_text_json_and_file(tmp_path):
    path, out = tmp_path / "draws.csv", tmp_path / "core.csv"
    path.write_text(FIVE)
    core = pt.credible_core(pt.read_draws(path), prob=0.6, held_out=False)
    asked = ["core", str(path), "--prob", "0.6", "--in-sample"]
    done = CliRunner().invoke(cli, [*asked, "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert done.stdout == f"{core}\n"
    with out.open() as stream:
        rows = list(csv.DictReader(stream))
    assert [row["item"] for row in rows] == list("abcdef")
    assert [int(row["core"]) for row in rows] == core.labels.tolist()
    done = CliRunner().invoke(cli, [*asked, "--json"])
    plain = json.loads(done.stdout)
    assert (plain["size"], plain["in_sample_probability"], plain["is_proven"]) == (4, 0.6, True)
    assert plain["probability"] is None  # nothing was held out
    assert plain["in_sample_curve"] == [1.0, 1.0, 0.8, 0.6, 0.4, 0.2]
    done = CliRunner().invoke(cli, ["core", str(path), "--prob", "0.6"])
    assert "8 effective draws held out" in done.stdout
