"""Programs on meshes: what m.partition, m.tune_mesh and a report over a mesh give is what the commands print."""
import json
import os
import subprocess

import pytest
from conftest import ROOT

import hlosim

LAYER = ROOT / "tests/samples/mlp_layer.hlo"
MESH = {"data": 4, "model": 2}
SHARD = {"x": ["data", None], "w1": [None, "model"], "w[24]": ["model", None]}
LINE = ["--mesh=data=4,model=2", "--shard=x=[data,_]", "--shard=w1=[_,model]", "--shard=w[24]=[model,_]"]


def output(program, *line, code=0):
    done = subprocess.run([program, *map(os.fspath, line)], capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    return done.stdout


@pytest.fixture
def layer():
    return hlosim.load(LAYER)


def test_partition_is_the_commands(program, layer):
    made = layer.partition(MESH, SHARD)
    assert made.module.text() == output(program, "partition", LAYER, *LINE)
    assert made.report == output(program, "partition", LAYER, *LINE, "--report")
    assert "8 devices" in made.report and made.module.partitions == 8
    rings = layer.partition(MESH, SHARD, windowed_products="always", hoist_gathers="0", combine_collectives="0")
    assert rings.module.text() == output(program, "partition", LAYER, *LINE, "--windowed-products=always",
                                         "--hoist-gathers=0", "--combine-collectives=0")
    # An axis, several, a text: the same statements.
    assert layer.partition("data=4,model=2", LINE[1].split("=", 1)[1]).module.text() == \
        output(program, "partition", LAYER, *LINE[:2])
    assert layer.propagate(MESH, SHARD) == output(program, "partition", LAYER, *LINE, "--propagate-only")


def test_partition_checks_what_is_computed(layer):
    pytest.importorskip("numpy")
    made = layer.partition(MESH, SHARD, check=True, seed=3)
    assert made.module.parameters[0].shape == (16, 32)


def test_wrong_partitions(layer):
    with pytest.raises(hlosim.Error, match="mode1"):
        layer.partition(MESH, {"w1": [None, "mode1"]})
    with pytest.raises(hlosim.Error, match="data=x"):
        layer.partition("data=x")


def test_report_over_a_mesh(program, layer):
    report = layer.report("v5e", topology="4x2", mesh=MESH, shard=SHARD, mesh_order="auto")
    assert report.to_json() == output(program, "report", LAYER, "--device=v5e", "--topology=4x2", *LINE,
                                      "--mesh-order=auto", "--format=json")
    assert len(report.collectives) > 0
    assert layer.lower("v5e").report("v5e").time_ps != report.time_ps


def test_sharded_modules_are_partitioned_by_default(program):
    path = ROOT / "tests/samples/sharded_step.hlo"
    sharded = hlosim.load(path)
    report = sharded.report("v5e")
    assert report.to_json() == output(program, "report", path, "--device=v5e", "--format=json")
    assert report.time_ps == sharded.report("v5e", partitions=4).time_ps == sharded.lower("v5e").report("v5e").time_ps
    assert report.to_dict()["module"]["partitions"] == 4 and len(report.collectives) > 0
    with pytest.warns(hlosim.HlosimWarning, match="sharded over 4 devices and not partitioned"):
        whole = sharded.report("v5e", partition=False)
    assert len(whole.collectives) == 0


def test_report_over_another_mesh_than_written_for(program, layer):
    made = hlosim.load(layer.propagate(MESH, SHARD))
    report = made.report("v5e", mesh={"data": 2, "model": 4}, written_for=MESH)
    assert report.to_dict() == made.report("v5e", mesh="data=2,model=4", written_for="data=4,model=2").to_dict()
    assert report.time_ps > 0


def test_tune_mesh_is_the_commands(program, layer, tmp_path):
    seen = []
    tuned = layer.tune_mesh("v5e", 8, ["data", "model"], topology="4x2", progress=lambda *at: seen.append(at))
    line = ["tune", "mesh", LAYER, "--device=v5e", "--devices=8", "--axes=data,model", "--topology=4x2", "--format=json"]
    assert tuned.report == json.loads(output(program, *line))
    output(program, *line, "-o", tmp_path / "best.hlo")
    assert tuned.module.text() == (tmp_path / "best.hlo").read_text()
    best = tuned.report["rows"][0]
    # The report over that mesh says the same time.
    mesh, *statements = best["request"].split("; ")
    again = layer.report("v5e", topology="4x2", mesh=mesh, shard=[one for one in statements if "=[" in one])
    assert again.time_ps == best["values"]["time"] and seen


def test_no_mesh_fits(layer):
    tuned = layer.tune_mesh("v5e", 8, "data,model", set={"memory.hbm.capacity": "4 KiB"}, all=True)
    assert tuned.module is None and tuned.report["best"] is None and len(tuned.report["rows"]) > 3


def test_wrong_searches(layer):
    with pytest.raises(hlosim.Error, match="twice"):
        layer.tune_mesh("v5e", 8, ["data", "data"])
    with pytest.raises(hlosim.Error, match="v5x"):
        layer.tune_mesh("v5x", 8, ["data"])
