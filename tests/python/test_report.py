"""Reports: the command's own bytes, and what the package makes of them."""
import json
import math
import os
import subprocess

import pytest
from conftest import ROOT, SHARED, own_modules

import hlosim


def command(program, *arguments):
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)


def documents(text):
    """By file and module the documents of an array as they stand in the text."""
    decoder, found, at = json.JSONDecoder(), {}, text.index("[") + 1
    while True:
        at = min((i for i in (text.find("{", at),) if i >= 0), default=-1)
        if at < 0:
            return found
        one, end = decoder.raw_decode(text, at)
        found.setdefault(one["module"]["file"], []).append(text[at:end])
        at = end


def check_against_the_command(program, paths, options=("--device=v5e",), **keywords):
    """The number of reports that are equal."""
    done = command(program, "report", *options, "--format=json", "-q", *paths)
    expected = documents(done.stdout)
    equal = 0
    for path in map(str, paths):
        try:
            own = [m.report("v5e", **keywords).to_json() for m in hlosim.load_all(path)]
        except hlosim.Error:
            assert path not in expected, path
            continue
        assert [one.rstrip("\n") for one in own] == expected[path], path
        equal += len(own)
    return equal


@pytest.mark.filterwarnings("ignore::hlosim.HlosimWarning")
def test_json_is_the_commands_for_our_modules(program):
    paths = [path for path in own_modules() if path.suffix == ".hlo"]
    assert check_against_the_command(program, paths) >= 12


@pytest.mark.filterwarnings("ignore::hlosim.HlosimWarning")
def test_json_is_the_commands_with_options(program):
    paths = [ROOT / "examples/mlp.hlo", ROOT / "tests/samples/replicas_step.hlo"]
    options = ("--device=v5e", "--topology=2x2", "--set=memory.hbm.capacity=8 GiB", "--while-trip-count=7")
    assert check_against_the_command(program, paths, options, topology="2x2", while_trip_count=7,
                                     set={"memory.hbm.capacity": "8 GiB"}) == 2


@pytest.mark.filterwarnings("ignore::hlosim.HlosimWarning")
def test_json_is_the_commands_for_modules_of_others(program):
    if not (SHARED / "corpus/ok").is_dir():
        pytest.skip("no modules of others here; test_json_is_the_commands_for_our_modules has ours")
    paths = sorted((SHARED / "corpus/ok").iterdir())[::8][:260]
    assert check_against_the_command(program, paths) >= 200


def test_the_command_of_one_module_ends_in_the_same_byte(program, mlp):
    path = os.fspath(ROOT / "examples/mlp.hlo")
    assert mlp.report("v4").to_json() == command(program, "report", path, "--device=v4", "--format=json").stdout
    assert mlp.report("v4").text() == command(program, path, "--device=v4").stdout


def test_what_is_read_off_it(mlp):
    report = mlp.report(device="v5e")
    data = report.to_dict()
    assert report.time_ps == data["time"]["total_ps"] == report.metrics["time"]
    assert math.isclose(report.time_us * 1e6, report.time_ps)
    assert math.isclose(sum(report.by_category_us.values()), report.time_us)
    assert report.bound_by == "HBM"
    assert report.peak_memory == 4_457_472 == report.peak_memory_by_space["hbm"]
    assert (report.exposed_communication_us, report.exposed_copies_us, report.fits) == (0, 0, True)
    assert report.matmul_flops == 805_306_368 and report.flops > report.matmul_flops and report.hbm_bytes == 4_981_760
    assert report.module is mlp


def test_synchronous_collectives_are_exposed():
    m = hlosim.load(ROOT / "tests/samples/replicas_step.hlo")
    report = m.report("v5e", topology="2x2")
    rows = [row for row in report.table("instructions") if row["category"] == "collective"]
    assert rows and report.exposed_communication_us > 0


def test_tables(mlp):
    report = mlp.report(device="v5e")
    table = report.table("instructions")
    assert json.loads(table.to_json()) == list(table) == report.to_dict()["instructions"]
    assert table.to_json() in report.to_json()
    assert table["name"] == [row["name"] for row in table] == table.to_dict()["name"]
    assert table[0]["name"] == "prefetch" and len(table) == 4
    assert report.table("copies")[0]["from"] == "hbm" and len(report.collectives) == 0
    assert "<table>" in table._repr_html_()
    with pytest.raises(KeyError):
        report.table("no such table")


def test_tables_are_shown_and_sorted_by_rows():
    table = hlosim.Table([{"name": "a", "time_ps": 5, "traffic": []}, {"name": "bb", "time_ps": None, "traffic": []},
                          {"name": "c", "time_ps": 7, "traffic": []}])
    assert repr(table).splitlines() == ["<Table: 3 rows of name, time_ps, traffic>", "name  time_ps", "a     5", "bb", "c     7"]
    assert table.sort_values("time_ps", ascending=False)["name"] == ["c", "a", "bb"]
    assert table.sort_values("name")["name"] == ["a", "bb", "c"]
    assert table.head(1)["name"] == ["a"]
    assert repr(hlosim.Table([])) == "<Table: 0 rows of >"
    assert "9 more rows" in repr(hlosim.Table([{"x": i} for i in range(19)]))
    with pytest.raises(KeyError):
        table.sort_values("no such column")


def test_tables_as_frames(mlp):
    pandas = pytest.importorskip("pandas")
    report = mlp.report(device="v5e")
    for frame in (report.instructions, report.copies, report.collectives, report.padding):
        assert isinstance(frame, pandas.DataFrame)
    assert report.instructions.sort_values("self_time_ps").name.iloc[-1] == "hidden"
    assert list(report.instructions.name) == report.table("instructions")["name"]
    frame = mlp.report(device="v5e").to_pandas()
    assert frame.self_time_ps.sum() == mlp.report(device="v5e").time_ps
    assert frame.hbm_read_bytes.sum() == 4_195_328 and frame.hbm_read_bytes.dtype == "int64"


def test_interval_utilization_and_flags(mlp):
    report = mlp.report("v5e")
    low, high = report.range_us
    assert low < report.time_us < high and report.range_ps == (round(low * 1e6), round(high * 1e6))
    assert report.time_ms == report.time_ps / 1e9
    assert report.flops_utilization == report.to_dict()["work"]["flops_utilisation"] and 0 < report.hbm_utilization < 1
    assert max(report.by_unit_us, key=report.by_unit_us.get) == report.bound_by
    assert report.unspecified_flags == report.to_dict()["flags_not_given"]


def test_errors_name_arguments_of_python(mlp):
    with pytest.raises(hlosim.Error) as caught:
        mlp.report("v5e", set={"hbm_bandwidth": "1 TB/s"})
    assert "--" not in str(caught.value) and caught.value.hint == 'did you mean "memory.hbm.bandwidth"?'
    with pytest.raises(hlosim.Error, match="^while_trip_count: '-1' is not a whole number"):
        mlp.report("v5e", while_trip_count=-1)
    with pytest.raises(TypeError, match="hlosim.compare"):
        mlp.report(["v4", "v5e"])


def test_set_and_devices(mlp):
    base = mlp.report("v5e")
    slower = mlp.report("v5e", set={"memory.hbm.bandwidth": "400 GB/s"})
    assert slower.time_ps > base.time_ps
    short = mlp.report("v5e", set={"hbm.bandwidth": "400 GB/s"})
    assert short.metrics == slower.metrics
    assert mlp.report(hlosim.Device("v5e", set={"memory.hbm.bandwidth": "400 GB/s"})).to_json() == slower.to_json()


def test_wrong_devices_options_and_values(mlp):
    with pytest.raises(hlosim.Error, match="v5x"):
        mlp.report("v5x")
    with pytest.raises(hlosim.Error) as caught:
        mlp.report("v5e", topologie="2x2")
    assert "topology" in caught.value.hint and "--" not in str(caught.value)
    with pytest.raises(hlosim.Error, match="memory.hbm"):
        mlp.report("v5e", set={"memory.hbm.bandwith": "1 GB/s"})


def test_settings_without_effect_are_told(adder):
    report = adder().report("v5e", set={"xlu.cadence": "4 cycles"})
    assert [one["path"] for one in report.to_dict()["keys_without_effect"]] == ["xlu.cadence"]


def test_saves(mlp, tmp_path):
    report = mlp.report("v5e")
    for name in ("r.html", "r.json", "r.csv", "r.txt", "t.json", "t.json.gz", "t.svg"):
        path = tmp_path / name
        report.trace(path) if name.startswith("t") else report.save(path)
        assert path.stat().st_size > 300, name
    assert (tmp_path / "r.json").read_text() == report.to_json()
    assert (tmp_path / "r.html").read_text().startswith("<!DOCTYPE html>") or "<html" in report.html()
    assert any(event["name"] == "hidden" for event in report.trace_events())
    with pytest.raises(ValueError, match="html"):
        report.save(tmp_path / "r.pdf")
    with pytest.raises(hlosim.Error, match="nowhere"):
        report.save(tmp_path / "nowhere/r.html")


def test_saves_overwrite_no_input(adder, program, tmp_path):
    device = tmp_path / "d.json"
    device.write_text(subprocess.run([program, "devices", "v5e", "--format=yaml"], capture_output=True, text=True, check=True).stdout)
    module = tmp_path / "m.txt"
    module.write_text(adder().text())
    (tmp_path / "link.txt").symlink_to(module)
    (tmp_path / "hard.txt").hardlink_to(module)
    (tmp_path / "link.html").symlink_to(module)
    before = module.read_bytes(), device.read_bytes()
    loaded = hlosim.load(module)
    report = loaded.report(device)
    other = adder(16).report("v5e")
    for save in (report.save, hlosim.diff(report, other).save, hlosim.diff(other, report).save):
        for name in ("m.txt", "link.txt", "hard.txt"):
            with pytest.raises(hlosim.Error, match="would overwrite the input"):
                save(tmp_path / name)
        with pytest.raises(hlosim.Error, match="would overwrite the input"):
            save(device)
    for save in (hlosim.compare(report, other).save, report.save, report.trace):
        with pytest.raises(hlosim.Error, match="would overwrite the input"):
            save(tmp_path / "link.html" if save != report.trace else device)
    assert (module.read_bytes(), device.read_bytes()) == before
    assert sorted(os.listdir(tmp_path)) == ["d.json", "hard.txt", "link.html", "link.txt", "m.txt"]


def test_saved_reports_come_back(mlp):
    report = mlp.report("v5e")
    again = hlosim.Report.from_json(report.to_json())
    assert again.metrics == report.metrics
    with pytest.raises(ValueError, match="module"):
        again.text()


def test_html_for_notebooks_loads_nothing(mlp):
    text = mlp.report("v5e")._repr_html_()
    assert "TPU v5e" in text and "src=" not in text and "http" not in text and "<script" not in text
    hostile = hlosim.load("HloModule m\nENTRY e {\n  %a = f32[8] parameter(0)\n  ROOT %x = f32[8] add(a, a), metadata={op_name=\"<b>\"}\n}")
    assert "<b>" not in hostile.report("v5e")._repr_html_()


def test_explain(mlp):
    assert "hidden" in mlp.explain("hidden", "v5e")
    with pytest.raises(hlosim.Error):
        mlp.explain("hiden", "v5e")


def test_many_threads_report_the_same(mlp):
    from concurrent.futures import ThreadPoolExecutor

    expected = mlp.report("v5e").to_json()
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(lambda _: mlp.report("v5e").to_json(), range(24))) == {expected}


def test_module_as_a_command(program, mlp):
    import sys

    path = os.fspath(ROOT / "examples/mlp.hlo")
    own = subprocess.run([sys.executable, "-m", "hlosim", "report", path, "--device=v5e"], capture_output=True, text=True)
    assert own.stdout == command(program, "report", path, "--device=v5e").stdout and own.returncode == 0
    wrong = subprocess.run([sys.executable, "-m", "hlosim", "report", path], capture_output=True, text=True)
    assert wrong.returncode == 2 and "--device is missing" in wrong.stderr
