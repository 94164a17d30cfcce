"""What `pip install .` builds, made of a build that is there: the wheel holds the package, and runs from where it is unpacked.

  wheel_test.py BUILD VERSION
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

BUILD, VERSION = sys.argv[1:]
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python/build_backend"))
import hlosim_build

NAMES = {"hlosim/__init__.py", "hlosim/py.typed", "hlosim/_core.pyi", "hlosim/pytest_plugin.py"}
INFO = "hlosim-%s.dist-info/" % VERSION


def check_choice_of_the_build():
    """build/release is used where it makes the package for this Python."""
    if not os.path.exists("/usr/bin/python3") or not os.path.samefile("/usr/bin/python3", sys.executable):
        return
    root = hlosim_build.ROOT
    with tempfile.TemporaryDirectory() as folder:
        hlosim_build.ROOT = pathlib.Path(folder)
        assert not hlosim_build.has_a_release_build()
        cache = hlosim_build.ROOT / "build/release/CMakeCache.txt"
        cache.parent.mkdir(parents=True)
        for text, expected in [("", True), ("HLOSIM_PYTHON:BOOL=ON\n", True), ("HLOSIM_PYTHON:BOOL=OFF\n", False),
                               ("Python_EXECUTABLE:FILEPATH=/usr/bin/python3\n", True),
                               ("Python_EXECUTABLE:FILEPATH=/opt/bin/python3.13\n", False)]:
            cache.write_text(text)
            assert hlosim_build.has_a_release_build() == expected, text
    hlosim_build.ROOT = root


def main():
    check_choice_of_the_build()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        subprocess.run(["cmake", "--install", BUILD, "--component", "python", "--prefix", folder / "prefix"], check=True,
                       stdout=subprocess.DEVNULL)
        packages = folder / "prefix/lib/python3/dist-packages"
        files = {path.relative_to(packages).as_posix(): path.read_bytes() for path in packages.rglob("*") if path.is_file()}
        assert set(files) >= NAMES and any(name.startswith("hlosim/_core.") and name.endswith(".so") for name in files)
        assert not any("__pycache__" in name for name in files)
        wheel = folder / hlosim_build.write_wheel(folder, files)
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder / "site")
            record = archive.read(INFO + "RECORD").decode().splitlines()
            assert len(record) == len(archive.namelist()) and INFO + "RECORD,," in record
            assert ("Version: " + VERSION) in archive.read(INFO + "METADATA").decode()
            # As pip makes it before it builds, and as CMake writes it.
            for name, text in hlosim_build.metadata().items():
                assert archive.read(INFO + name).decode() == text, name
        code = "import hlosim, importlib.metadata as m; assert hlosim.__version__ == m.version('hlosim') == %r; " \
               "print(hlosim.__file__, hlosim.load(%r).report('v5e').bound_by)" % (VERSION, str(ROOT / "examples/mlp.hlo"))
        said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                              env=dict(os.environ, PYTHONPATH=str(folder / "site")))
        assert said.stdout == "%s HBM\n" % (folder / "site/hlosim/__init__.py"), said
        sdist = hlosim_build.build_sdist(folder)
        assert (folder / sdist).stat().st_size > 100_000


main()
