"""What people try who haven't read the documentation: it works, or says what would."""
import io
import subprocess
import sys

import pytest
from conftest import ROOT

import hlosim

TEXT = "HloModule one\nENTRY e {\n  a = f32[2] parameter(0)\n  ROOT x = f32[2] add(a, a)\n}\n"


def test_lists_of_whatever_holds_modules(mlp):
    class Compiled:  # as what jaxlib's runtime_executable().hlo_modules() gives
        def as_serialized_hlo_module_proto(self):
            return TEXT.encode()

    assert [m.name for m in hlosim.load([Compiled(), ROOT / "examples/mlp.hlo"])] == ["one", "mlp"]
    assert hlosim.load([Compiled()]).name == "one"
    assert hlosim.load([]) == []


def test_open_files():
    with open(ROOT / "examples/mlp.hlo") as file:
        m = hlosim.load(file)
    assert (m.name, m.file) == ("mlp", str(ROOT / "examples/mlp.hlo"))
    assert hlosim.load(io.BytesIO(TEXT.encode())).name == "one"
    with pytest.raises(hlosim.Error) as caught:
        hlosim.load(io.StringIO(TEXT.replace("parameter", "parametr")))
    assert (caught.value.file, caught.value.line) == ("<file>", 3)


def test_functions_that_were_not_lowered():
    class Jitted:
        def __call__(self, x):
            return x

        def lower(self, x):
            return self

    with pytest.raises(TypeError, match=r"f\.lower\(…\)"):
        hlosim.load(Jitted())


def test_wrong_types_say_what_is_expected(mlp):
    with pytest.raises(TypeError, match="dictionary"):
        mlp.report("v5e", set="hbm.bandwidth=900 GB/s")
    with pytest.raises(TypeError, match="dictionary"):
        hlosim.Device("v5e", set=["clock=1 GHz"])
    with pytest.raises(TypeError, match="reports"):
        hlosim.compare([mlp, mlp])
    with pytest.raises(TypeError, match="reports"):
        hlosim.compare(mlp)
    for text in ("{}", "[]", '{"modules": []}'):
        with pytest.raises(ValueError, match="no report"):
            hlosim.Report.from_json(text)
    with pytest.raises(ValueError, match="no modules"):
        pytest.importorskip("pandas") and hlosim.sweep([], "v5e")


def test_sides_of_a_slice_as_numbers(mlp):
    assert mlp.report("v5e", topology=(2, 2)).to_json() == mlp.report("v5e", topology="2x2").to_json()


def test_names_of_devices(mlp):
    expected = mlp.report("v5e").to_json()
    for name in ("V5E", "TPU v5e", "TPU v5 lite"):
        assert mlp.report(name).metrics == hlosim.Report.from_json(expected).metrics, name
    with pytest.raises(hlosim.Error, match="h100") as caught:
        mlp.report("h100")
    assert "v5e" in str(caught.value)


def test_short_and_wrong_keys_of_devices():
    device = hlosim.Device("v5e")
    assert device["hbm.bandwidth"] == device["memory.hbm.bandwidth"]
    with pytest.raises(KeyError, match="memory.hbm.bandwidth"):
        device["memory.hbm.bandwith"]


def test_a_folder_for_xprof(mlp, tmp_path):
    mlp.report("v5e").trace(tmp_path, format="xplane")
    file, = tmp_path.rglob("*.xplane.pb")
    assert file.parent.relative_to(tmp_path).as_posix() == "plugins/profile/predicted" and file.stat().st_size > 1000


@pytest.mark.parametrize("package, line", [
    ("matplotlib", "hlosim.plot.timeline(m.report('v5e'))"),
    ("pandas", "m.report('v5e').to_pandas()"),
    ("pandas", "hlosim.sweep([m], 'v5e')"),
])
def test_packages_that_are_not_installed(package, line):
    """The rest works without them; what needs one says which."""
    code = "import sys; sys.modules[%r] = None\nimport hlosim\nm = hlosim.load(%r)\nassert m.report('v5e').time_us > 0\n" \
           "try:\n  %s\nexcept ImportError as error:\n  print(error)" % (package, TEXT, line)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "needs " + package in done.stdout and "pip install " + package in done.stdout, done


def test_arrays_need_numpy_alone():
    code = "import sys; sys.modules['numpy'] = None\nimport hlosim\nm = hlosim.load(%r)\nprint(m.report('v5e').bound_by)\n" \
           "try:\n  m.run(args='random')\nexcept ImportError as error:\n  print(error)" % TEXT
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "numpy" in done.stdout and done.returncode == 0, done


def test_stubs_of_the_extension_name_what_it_has():
    import ast

    from hlosim import _core

    stub = ast.parse((ROOT / "python/hlosim/_core.pyi").read_text())
    for one in stub.body:
        if isinstance(one, ast.FunctionDef):
            assert callable(getattr(_core, one.name)), one.name
        if isinstance(one, ast.AnnAssign):
            assert hasattr(_core, one.target.id), one.target.id
        if isinstance(one, ast.ClassDef):
            known = {name for name in vars(getattr(_core, one.name)) if not name.startswith("_")}
            said = {part.target.id if isinstance(part, ast.AnnAssign) else part.name for part in one.body}
            assert known == said, (one.name, known ^ said)
    public = {name for name in vars(_core) if not name.startswith("_")}
    assert public == {one.target.id if isinstance(one, ast.AnnAssign) else one.name for one in stub.body
                      if isinstance(one, (ast.FunctionDef, ast.AnnAssign, ast.ClassDef))}
