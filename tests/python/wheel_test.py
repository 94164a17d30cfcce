"""What `pip install .` builds, made of a build that is there: the wheel holds the package, and runs from where it is unpacked.

  wheel_test.py BUILD VERSION
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

BUILD, VERSION = sys.argv[1:]
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python/build_backend"))
import hlosim_build
import manylinux

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


def stopped(function, *arguments):
    """What a function exits with."""
    try:
        function(*arguments)
    except SystemExit as error:
        return str(error)
    raise AssertionError("nothing was refused")


def check_rules():
    """Versions of symbols against those of a manylinux."""
    for version, glibc, expected in [("GLIBC_2.35", (2, 35), False), ("GLIBC_2.36", (2, 35), True), ("GLIBC_PRIVATE", (2, 36), True),
                                     ("GLIBCXX_3.4.30", (2, 34), True), ("GLIBCXX_3.4.30", (2, 35), False),
                                     ("CXXABI_FLOAT128", (2, 34), False), ("OPENSSL_3.0.0", (2, 36), True)]:
        assert manylinux.too_new(version, glibc) == expected, (version, glibc)


def check_self_contained(folder, files):
    """The rules of manylinux find what is wrong with the package, and an extension with a library gets it into its wheel."""
    tagged = folder / hlosim_build.write_wheel(folder, files, "cp311-cp311-manylinux_2_36_x86_64")
    found = manylinux.problems(tagged)
    assert any("needs libfmt" in one for one in found), found
    assert any("not one of manylinux" in one for one in manylinux.problems(folder / hlosim_build.write_wheel(folder, files)))
    if not shutil.which("patchelf") or not shutil.which("cc"):
        return
    if any("needs libmpi" in one for one in found):
        assert "-DHLOSIM_MPI=OFF" in stopped(manylinux.self_contained, tagged, folder)
    code = folder / "core.c"
    code.write_text('#include <zip.h>\nconst char* version(void) { return zip_libzip_version(); }\n')
    subprocess.run(["cc", "-shared", "-fPIC", code, "-o", folder / "_core.so", "-lzip", "-Wl,-rpath,/usr/lib"], check=True)
    data = (folder / "_core.so").read_bytes()
    plain = folder / hlosim_build.write_wheel(folder, {"hlosim/deep/_core.so": data}, "cp311-cp311-manylinux_2_36_x86_64")
    found = manylinux.problems(plain)
    assert [one.split(", ")[0] for one in found] == ["_core.so: needs libzip.so.4", "_core.so: looks for libraries in /usr/lib"], found
    made = manylinux.self_contained(plain, folder)
    assert manylinux.problems(made) == [], manylinux.problems(made)
    with zipfile.ZipFile(made) as archive:
        archive.extractall(folder / "made")
    loads = "import ctypes, sys; ctypes.CDLL(sys.argv[1]); print(sorted({line.split()[-1] for line in open('/proc/self/maps') if 'libzip' in line}))"
    for moved in ("made", "moved"):
        if moved == "moved":
            (folder / "made").rename(folder / moved)
        said = subprocess.run([sys.executable, "-c", loads, folder / moved / "hlosim/deep/_core.so"], capture_output=True, text=True)
        assert said.stdout.count(".so") == 1 and f"{folder / moved}/hlosim.libs/libzip-" in said.stdout, said


def main():
    check_rules()
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
        command = "import importlib.metadata as m, sys; [one] = m.entry_points(group='console_scripts', name='hlosim'); " \
                  "sys.argv = ['hlosim', '--version']; sys.exit(one.load()())"
        said = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, env=dict(os.environ, PYTHONPATH=str(folder / "site")))
        assert said.stdout == "hlosim %s\n" % VERSION, said
        check_self_contained(folder, {name: data for name, data in files.items() if not name.startswith(INFO)} |
                             {INFO + name: text.encode() for name, text in hlosim_build.metadata().items()})
        sdist = hlosim_build.build_sdist(folder)
        assert (folder / sdist).stat().st_size > 100_000


main()
