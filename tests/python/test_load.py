"""hlosim.load: from whatever holds a module."""
import gzip
import pathlib
import pickle

import pytest
from conftest import ROOT

import hlosim

TEXT = "HloModule one\nENTRY e {\n  a = f32[2] parameter(0)\n  ROOT x = f32[2] add(a, a)\n}\n"
STABLEHLO = """module @jit_f {
  func.func public @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
"""


def test_paths_as_text_and_objects():
    path = ROOT / "examples/mlp.hlo"
    assert hlosim.load(path).text() == hlosim.load(str(path)).text()
    assert hlosim.load(path).file == str(path)


def test_text_and_bytes():
    for x in (TEXT, TEXT.encode(), gzip.compress(TEXT.encode()), bytearray(TEXT.encode())):
        m = hlosim.load(x)
        assert (m.name, len(m), m.replicas, m.partitions, m.is_scheduled) == ("one", 2, 1, 1, False)


def test_stablehlo_and_its_dynamic_sizes():
    assert hlosim.load(STABLEHLO).parameters[0].shape == (2,)
    dynamic = STABLEHLO.replace("2xf32", "?xf32")
    assert hlosim.load(dynamic, dim=8).parameters[0].shape == (8,)
    with pytest.raises(hlosim.Error) as caught:
        hlosim.load(dynamic)
    assert "dim" in caught.value.hint + caught.value.message


def test_several_modules_are_a_list():
    both = hlosim.load(TEXT + "\n" + TEXT.replace("one", "two"))
    assert [m.name for m in both] == ["one", "two"]
    assert [m.name for m in hlosim.load_all(TEXT)] == ["one"]


class Lowered:
    """As JAX's: what lower() gives."""

    def as_text(self, dialect=None):
        return STABLEHLO

    def compiler_ir(self, dialect=None):
        raise AssertionError("as_text() is enough")


class Compiled:
    def as_text(self):
        return TEXT


class Ir:
    def __str__(self):
        return STABLEHLO


class OnlyIr:
    def compiler_ir(self):
        return Ir()


class XlaComputation:
    def as_hlo_text(self):
        return TEXT


class Indirect:
    def as_text(self):
        return None

    def compiler_ir(self):
        return XlaComputation()


class Exported:
    def __init__(self, data):
        self.mlir_module_serialized = data

    def mlir_module(self):
        raise AssertionError("the artifact is there")


@pytest.mark.parametrize("x, name", [(Lowered(), "jit_f"), (Compiled(), "one"), (OnlyIr(), "jit_f"),
                                     (XlaComputation(), "one"), (Indirect(), "one"),
                                     (Exported(STABLEHLO.encode()), "jit_f")])
def test_objects_by_their_methods(x, name):
    assert hlosim.load(x).name == name


def test_a_real_artifact():
    artifacts = sorted((ROOT / "tests/filetests").rglob("*.mlirbc")) + sorted((ROOT / "tests").rglob("*.vhlo"))
    for path in artifacts[:3]:
        assert hlosim.load(Exported(path.read_bytes())).text() == hlosim.load(path).text()


def test_what_holds_no_module():
    with pytest.raises(TypeError, match="as_text"):
        hlosim.load(3)


def test_errors_have_a_place_and_a_hint():
    with pytest.raises(hlosim.Error) as caught:
        hlosim.load(TEXT.replace("parameter", "parametr"))
    error = caught.value
    assert (error.file, error.line, error.column) == ("<text>", 3, 14)
    assert "parameter" in error.hint and "<text>:3:14: error:" in str(error)
    assert error.findings[0].severity == "error"
    assert isinstance(error, ValueError)
    again = pickle.loads(pickle.dumps(error))
    assert (again.line, str(again)) == (error.line, str(error))


def test_a_function_is_to_be_lowered():
    with pytest.raises(TypeError, match=r"jax\.jit\(f\)\.lower"):
        hlosim.load(lambda x: x)


def test_a_file_that_is_not_there():
    with pytest.raises(hlosim.Error, match="no/such/file.hlo"):
        hlosim.load("no/such/file.hlo")


def test_cut_off_text_needs_partial(tmp_path):
    whole = (ROOT / "examples/mlp.hlo").read_text()
    cut = whole[:whole.rindex("ROOT")]
    with pytest.raises(hlosim.Error):
        hlosim.load(cut)
    with pytest.warns(hlosim.HlosimWarning):
        assert hlosim.load(cut, partial=True).name == "mlp"


def test_limits():
    with pytest.raises(hlosim.Error, match="rank|dimensions"):
        hlosim.load(TEXT.replace("f32[2]", "f32[1,1,1]"), max_rank=2)


def test_modules_pickle():
    m = hlosim.load(ROOT / "examples/mlp.hlo")
    again = pickle.loads(pickle.dumps(m))
    assert (again.text(), again.file, again.fingerprint) == (m.text(), m.file, m.fingerprint)


def test_folders_of_dumps(tmp_path):
    (tmp_path / "module_0001.jit_f.tpu_comp_env.after_optimizations.txt").write_text(TEXT)
    m = hlosim.load(tmp_path)
    assert m.name == "one" and pathlib.Path(m.file).parent == tmp_path
