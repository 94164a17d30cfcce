"""Runs held against each other: diff, compare, sweep, gates; tuners and lowering."""
import json
import os
import subprocess

import pytest
from conftest import ROOT

import hlosim


def test_diff(adder, tmp_path):
    small, large = adder(80_000), adder(160_000)
    d = hlosim.diff(small, large, device="v5e")
    assert d.change("time") == large.report("v5e").time_ps - small.report("v5e").time_ps > 0
    assert d.same_device and d.same_model and d.metrics["hbm_bytes"]["change"] > 0
    assert "x" in [row["after"]["name"] for row in d.instructions if row["after"]]
    assert "time" in d.text() and "|" in d.markdown() and "<table>" in d._repr_html_()
    with pytest.raises(KeyError):
        d.change("no such metric")
    for name in ("d.html", "d.json", "d.md", "d.txt"):
        d.save(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 100
    with pytest.raises(ValueError):
        d.save(tmp_path / "d.pdf")


def test_diff_is_the_commands(program, mlp, tmp_path):
    paths = []
    for device in ("v4", "v5e"):
        paths.append(os.fspath(tmp_path / (device + ".json")))
        mlp.report(device).save(paths[-1])
    expected = subprocess.run([program, "diff", *paths, "--format=json"], capture_output=True, text=True).stdout
    assert hlosim.diff(mlp.report("v4"), mlp.report("v5e")).to_json() == expected


def test_compare(mlp, tmp_path):
    c = hlosim.compare(mlp.report("v4"), mlp.report("v5e"), names=["old", "new"])
    c.save(tmp_path / "c.html")
    page = (tmp_path / "c.html").read_text()
    assert page.count('data-part="report" data-title=') == 2 and "class CompareView" in page
    assert "old" in c._repr_html_() and "http" not in c._repr_html_()
    with pytest.raises(ValueError):
        hlosim.compare([])


def test_compare_as_a_frame(mlp):
    pytest.importorskip("pandas")
    frame = hlosim.compare([mlp.report("v4"), mlp.report("v5e")]).to_pandas()
    assert frame.loc["time", "mlp on TPU v5e"] == mlp.report("v5e").time_ps


def test_sweep(mlp, tmp_path):
    pytest.importorskip("pandas")
    seen = []
    frame = hlosim.sweep([mlp, ROOT / "examples/mlp_plain.hlo"], ["v4", "v5e"], set={"mxu.count": [2, 4]},
                         progress=lambda done, total: seen.append((done, total)))
    assert len(frame) == 8 and set(frame.module) == {"mlp", "mlp_plain"} and seen[-1] == (8, 8)
    row = frame[(frame.module == "mlp") & (frame.device == "v5e") & (frame["mxu.count"] == 4)]
    assert int(row.time_ps.iloc[0]) == mlp.report("v5e", set={"mxu.count": 4}).time_ps
    assert frame.attrs["units"]["time_ps"] == "ps" and frame.error.isna().all()


def test_axes_of_a_sweep_are_numbers(mlp):
    pytest.importorskip("pandas")
    frame = hlosim.sweep([mlp], "v5e", set={"memory.hbm.bandwidth": ["400 GB/s", "0.8 TB/s"]}, progress=False)
    assert list(frame["memory.hbm.bandwidth"]) == [4e11, 8e11] and frame.attrs["units"]["memory.hbm.bandwidth"] == "B/s"
    frame = hlosim.sweep([mlp], "v5e", set={"memory.vmem.capacity": ["32 MiB", "64 MiB"]}, progress=False)
    assert list(frame["memory.vmem.capacity"]) == [2**25, 2**26]


def test_sweep_over_text_and_from_a_file():
    pytest.importorskip("pandas")
    text = "HloModule m\nENTRY e { a = f32[${size}] parameter(0)  ROOT x = f32[${size}] add(a, a) }"
    frame = hlosim.sweep({"grow": text}, "v5e", text={"size": [8, 80_000]}, progress=False)
    assert frame.time_ps.is_monotonic_increasing and list(frame["size"]) == [8, 80_000]
    assert len(hlosim.sweep(os.fspath(ROOT / "examples/sweep_generations.yaml"), progress=False)) > 1
    assert not list((ROOT / "examples").glob("*.journal"))


def test_wrong_sweeps(mlp):
    with pytest.raises(hlosim.Error, match="v5x"):
        hlosim.sweep([mlp], ["v5x"])
    with pytest.raises(hlosim.Error, match="mxu.cuont"):
        hlosim.sweep([mlp], ["v5e"], set={"mxu.cuont": [1]})
    with pytest.raises(TypeError, match="modules: expects"):
        hlosim.sweep(5, "v5e")
    for wrong in ({"set": "hbm.bandwidth"}, {"knobs": "lower"}):
        with pytest.raises(TypeError, match="expects a dictionary"):
            hlosim.sweep([mlp], "v5e", **wrong)
    with pytest.raises(TypeError, match="devices"):
        hlosim.sweep([mlp])


def test_interrupted_progress(mlp):
    pytest.importorskip("pandas")

    def look(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hlosim.sweep([mlp], ["v5e"], set={"mxu.count": list(range(1, 9))}, progress=look)


def test_lower():
    plain = hlosim.load(ROOT / "examples/mlp_plain.hlo")
    lowered = plain.lower("v5e")
    assert lowered.is_scheduled and not plain.is_scheduled
    assert lowered.report("v5e").time_ps == plain.report("v5e").time_ps


def test_tuners(program, mlp):
    for kind, options in (("layout", {"moves": 50, "exact_steps": 0}), ("prefetch", {"moves": 10}), ("schedule", {})):
        tuned = getattr(mlp, "tune_" + kind)("v5e", **options)
        assert tuned.module.report("v5e").time_ps <= mlp.report("v5e").time_ps, kind
        line = [program, "tune", kind, os.fspath(ROOT / "examples/mlp.hlo"), "--device=v5e", "--format=json"]
        line += ["--%s=%s" % (name.replace("_", "-"), value) for name, value in options.items()]
        expected = json.loads(subprocess.run(line, capture_output=True, text=True).stdout)
        assert tuned.report.keys() == expected.keys(), kind


def test_assert_no_slower(adder):
    fast, slow = adder(8_000), adder(800_000)
    assert hlosim.assert_no_slower(fast, slow, device="v5e").change() < 0
    hlosim.assert_no_slower(slow, slow.report("v5e"), device="v5e")
    with pytest.raises(hlosim.Slower) as caught:
        hlosim.assert_no_slower(slow, fast, device="v5e", metrics=["time", "hbm_bytes"], tolerance=0.5)
    assert "hbm_bytes" in str(caught.value) and caught.value.diff.change() > 0
    assert isinstance(caught.value, AssertionError)
    hlosim.assert_no_slower(slow, fast, device="v5e", metrics={"time": 1e6})
    with pytest.raises(ValueError, match="not a metric"):
        hlosim.assert_no_slower(fast, fast, device="v5e", metrics="tme")
    with pytest.raises(TypeError, match="device"):
        hlosim.assert_no_slower(fast, slow)


GATED = """
import hlosim
MODULE = "HloModule m\\nENTRY e {{ a = f32[{size}] parameter(0)  ROOT x = f32[{size}] add(a, a) }}"

@hlosim.gate("v5e")
def test_step():
    return MODULE

def test_fixture(hlosim_gate):
    hlosim_gate(hlosim.load(MODULE), device="{device}", metrics=["time", "hbm_bytes"])
"""


def test_pytest_plugin(pytester):
    def run(size, *arguments, device="v5e"):
        pytester.makepyfile(test_gated=GATED.format(size=size, device=device))
        result = pytester.runpytest_subprocess("-p", "no:cacheprovider", *plugin, *arguments)
        return result

    # The plugin comes by its entry point where the package is installed or its dist-info lies in the path.
    plugin = []
    assert run(8_000).ret == 1, "there is no baseline yet"
    run(8_000, "--hlosim-update").assert_outcomes(passed=2)
    assert sorted(path.name for path in (pytester.path / "hlosim_baselines").iterdir()) == [
        "test_fixture.json", "test_step.json"]
    run(8_000).assert_outcomes(passed=2)
    run(4_000).assert_outcomes(passed=2)
    slower = run(800_000)
    slower.assert_outcomes(failed=2)
    slower.stdout.fnmatch_lines(["*test_step costs more than *hlosim_baselines/test_step.json*", "*hbm_bytes:*"])
    other = run(8_000, device="v4")
    other.assert_outcomes(passed=1, failed=1)
    other.stdout.fnmatch_lines(["*the baseline is of another device*"])
    run(8_000, "--hlosim-baselines=elsewhere", "--hlosim-update").assert_outcomes(passed=2)
    assert len(list((pytester.path / "elsewhere").iterdir())) == 2
    for path in (pytester.path / "hlosim_baselines").iterdir():
        path.write_text(path.read_text()[:100] if "step" in path.name else "{}")
    damaged = run(8_000)
    damaged.assert_outcomes(failed=2)
    damaged.stdout.fnmatch_lines(["*test_step.json is not a baseline*", "*test_fixture.json is not a baseline*"])
    run(8_000, "--hlosim-update").assert_outcomes(passed=2)


SMALL = ROOT / "tests/filetests/serving/small.yaml"


def test_serving_is_the_command(program, tmp_path):
    server = hlosim.serving(SMALL, "v6e", concurrency=8, isl=256, osl=64)
    expected = subprocess.run([program, "serving", os.fspath(SMALL), "--device=v6e", "--concurrency=8", "--isl=256", "--osl=64",
                               "--format=json"], capture_output=True, text=True).stdout
    assert server.to_json() == expected and server.to_dict() == json.loads(expected)
    assert server.throughput["output_tok_s"] > server.throughput["request_per_s"] > 0
    assert server.latency_ms["itl"]["p99"] >= server.latency_ms["itl"]["median"] > 0
    assert server.memory["weights_bytes"] > 0 and server.assumptions and not server.curve
    assert "Output token throughput" in server.text() and "<table>" in server._repr_html_() and "tok/s" in repr(server)
    for name in ("s.html", "s.json", "s.txt"):
        server.save(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 500
    assert (tmp_path / "s.html").read_text().count('class="front"') >= 1
    assert "http:" not in (tmp_path / "s.html").read_text().replace("http://www.w3.org/2000/svg", "")
    with pytest.raises(ValueError):
        server.save(tmp_path / "s.pdf")


def test_serving_has_a_curve_and_takes_changes():
    model = {"name": "small", "layers": 2, "d_model": 256, "d_ff": 512, "q_heads": 4, "kv_heads": 2, "vocab": 512}
    options = {"concurrency": 4, "isl": 64, "osl": 16, "max_num_seqs": 8}
    server = hlosim.serving(model, "v6e", curve=True, **options)
    assert [one["concurrency"] for one in server.curve] == [1, 2, 4, 8]
    assert any(one["front"] for one in server.curve)
    same = next(one for one in server.curve if one["concurrency"] == 4)
    assert same["tpot_ms_mean"] == pytest.approx(server.latency_ms["tpot"]["mean"])
    slower = hlosim.serving(model, "v6e", set={"host.serving_step": "20 ms"}, **options)
    assert slower.latency_ms["itl"]["median"] > server.latency_ms["itl"]["median"] + 15
    with pytest.raises(hlosim.Error):
        hlosim.serving(model, "v6e", isl=64)


def test_serving_speculates_and_sets_prefill_apart():
    options = {"concurrency": 4, "isl": 64, "osl": 32, "max_num_seqs": 8}
    plain = hlosim.serving(SMALL, "v6e", **options)
    assert plain.speculation is None and plain.prefill is None
    server = hlosim.serving(SMALL, "v6e", num_speculative_tokens=3, acceptance_rate=0.8, curve=True,
                            speculative_model=ROOT / "tests/filetests/serving/draft.yaml", **options)
    assert server.speculation["draft_model"] == "small-draft" and 1 < server.speculation["acceptance_length"] <= 4
    assert server.latency_ms["tpot"]["mean"] < plain.latency_ms["tpot"]["mean"] and len(server.curve) == 4
    apart = hlosim.serving(SMALL, "v6e", prefill_instances=2, prefill_device="v5e", **options)
    assert apart.prefill["instances"] == 2 and apart.prefill["transfer"]["ms"]["mean"] > 0
    assert apart.to_dict()["steps"]["with_prompts"] == 0
