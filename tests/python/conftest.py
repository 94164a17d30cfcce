"""What the tests of the package share: where the program, our modules and those of others are.

HLOSIM_PROGRAM names the program (CMake sets it), HLOSIM_SHARED_DIR the data of others; without them tests are skipped.
"""
import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("HLOSIM_SHARED_DIR", ROOT.parent / "shared"))


def own_modules():
    """Modules of ours, of one device and of several, plain and scheduled."""
    return sorted(list((ROOT / "examples").glob("*.hlo")) + list((ROOT / "tests/samples").glob("*.*")))


@pytest.fixture(scope="session")
def program():
    path = os.environ.get("HLOSIM_PROGRAM")
    if not path:
        pytest.skip("HLOSIM_PROGRAM is not set")
    return path


@pytest.fixture
def mlp():
    import hlosim

    return hlosim.load(ROOT / "examples/mlp.hlo")


@pytest.fixture
def adder():
    """A function: a module that adds an array of a type and of a size to itself."""
    import hlosim

    def make(size=8, type="f32", name="adder"):
        return hlosim.load("HloModule %s\nENTRY e {\n  a = %s[%d] parameter(0)\n  ROOT x = %s[%d] add(a, a)\n}\n"
                           % (name, type, size, type, size))

    return make
