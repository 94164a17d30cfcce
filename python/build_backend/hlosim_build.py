"""Builds the wheel of hlosim with CMake, by the interfaces of PEP 517 and 660, from the standard library alone.

Built is the extension alone, a file per processor at a time (CMAKE_BUILD_PARALLEL_LEVEL: another number): in build/release
where scripts/hlosim or scripts/test compiled most of it before, else in build/pip-…; ``pip install .
--config-settings=build-dir=DIR`` builds in DIR, and ``cmake-args`` are passed to CMake.
"""
import base64
import fcntl
import hashlib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
WHEEL = "Wheel-Version: 1.0\nGenerator: hlosim_build\nRoot-Is-Purelib: false\nTag: %s\n"


def version():
    return re.search(r"project\(hlosim VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def tag():
    python = "cp%d%d" % sys.version_info[:2]
    return "%s-%s-%s" % (python, python, re.sub(r"[-.]", "_", sysconfig.get_platform()))


def dist_info():
    return "hlosim-%s.dist-info" % version()


def metadata():
    """The files of the dist-info folder that don't depend on the wheel."""
    text = (ROOT / "python/METADATA.in").read_text().replace("@PROJECT_VERSION@", version())
    return {"METADATA": text, "entry_points.txt": (ROOT / "python/entry_points.txt").read_text()}


def run(*command):
    done = subprocess.run([str(one) for one in command], stdout=sys.stderr)
    if done.returncode:
        raise SystemExit("hlosim_build: %s failed; `scripts/setup python` installs what the build needs" % shlex.join(
            str(one) for one in command[:2]))


class Terminal:
    """How far the build is, on the terminal that pip keeps what we print from; nothing where there is none."""

    def __init__(self):
        try:
            self.file = open("/dev/tty", "w") if sys.stderr and not sys.stderr.isatty() else None
        except OSError:
            self.file = None

    def saw(self, line):
        """Of ninja's lines those that begin with [done/all]; pip's own sign of life follows ours."""
        step = re.match(rb"\[(\d+)/(\d+)\]", line)
        if self.file and step:
            self.file.write("\r  Building hlosim: %s of %s files ...  " % tuple(one.decode() for one in step.groups()))
            self.file.flush()


def compile_all(folder):
    jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or str(len(os.sched_getaffinity(0)))
    environment = dict(os.environ)
    environment.setdefault("CCACHE_BASEDIR", str(ROOT))
    environment.setdefault("CCACHE_SLOPPINESS", "pch_defines,time_macros,include_file_mtime,include_file_ctime")
    terminal = Terminal()
    command = ["cmake", "--build", str(folder), "--target", "hlosim_python", "--parallel", jobs]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment) as building:
        for line in building.stdout:
            terminal.saw(line)
            sys.stderr.write(line.decode(errors="replace"))
            sys.stderr.flush()
    if building.returncode:
        raise SystemExit("hlosim_build: the build failed, see above")


def has_a_release_build():
    """Whether build/release is there, and makes the package for this Python: Debian's, unless it is configured for another."""
    debian, cache = pathlib.Path("/usr/bin/python3"), ROOT / "build/release/CMakeCache.txt"
    if not cache.exists() or not debian.exists() or not os.path.samefile(debian, sys.executable):
        return False
    told = re.findall(r"^(?:HLOSIM_PYTHON:BOOL=(?:OFF|0|NO|FALSE)|Python_EXECUTABLE:\w+=.*)$", cache.read_text(errors="replace"), re.M)
    return all(one.endswith("/usr/bin/python3") for one in told)


def build(settings):
    """The build's folder, with the extension in it."""
    settings = settings or {}
    if not settings and has_a_release_build():
        folder = ROOT / "build/release"
        with open(folder / "scripts-hlosim.lock", "w") as lock:  # scripts/hlosim may be at it as well
            fcntl.flock(lock, fcntl.LOCK_EX)
            run("cmake", "-S", ROOT, "-B", folder)  # as it is, with packages that were installed since
            compile_all(folder)
        return folder
    folder = pathlib.Path(settings.get("build-dir") or ROOT / "build" / ("pip-" + sys.implementation.cache_tag))
    launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    run("cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DHLOSIM_UNITY=ON", "-DHLOSIM_BUILD_TESTS=OFF",
        "-DHLOSIM_PYTHON=ON", "-DPython_EXECUTABLE=" + sys.executable, *launcher,
        *shlex.split(settings.get("cmake-args", "")))
    compile_all(folder)
    return folder


def write_wheel(wheel_directory, files, wheel_tag=None):
    """`files`: name in the wheel → bytes. Its tag is that of this machine unless one is given."""
    files = dict(files)
    wheel_tag = wheel_tag or tag()
    files["%s/WHEEL" % dist_info()] = (WHEEL % wheel_tag).encode()
    name = "hlosim-%s-%s.whl" % (version(), wheel_tag)
    record = ""
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in sorted(files.items()):
            entry = zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0))
            entry.external_attr = (0o755 if re.search(r"\.so(\.|$)", path) else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record += "%s,sha256=%s,%d\n" % (path, digest, len(data))
        wheel.writestr(zipfile.ZipInfo("%s/RECORD" % dist_info(), (2020, 1, 1, 0, 0, 0)),
                       record + "%s/RECORD,,\n" % dist_info())
    return name


def get_requires_for_build_wheel(config_settings=None):
    return []


get_requires_for_build_sdist = get_requires_for_build_editable = get_requires_for_build_wheel


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    folder = pathlib.Path(metadata_directory) / dist_info()
    folder.mkdir(parents=True)
    for name, text in metadata().items():
        (folder / name).write_text(text)
    return folder.name


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return wheel_of(build(config_settings), wheel_directory)


def wheel_of(folder, wheel_directory):
    """The wheel of a finished build in `folder`; its name."""
    with tempfile.TemporaryDirectory() as prefix:
        run("cmake", "--install", folder, "--component", "python", "--prefix", prefix, "--strip")
        root = next((found.parents[1] for found in pathlib.Path(prefix).rglob("hlosim/__init__.py")), pathlib.Path(prefix))
        files = {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    if not any(name.endswith(".so") for name in files):
        raise SystemExit("hlosim_build: no extension was built; `scripts/setup python` installs what it needs")
    return write_wheel(wheel_directory, files)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """A wheel that leads to the build's folder, where the files of Python are links to the source's."""
    folder = build(config_settings) / "python"
    files = {"%s/%s" % (dist_info(), name): text.encode() for name, text in metadata().items()}
    return write_wheel(wheel_directory, dict(files, **{"hlosim.pth": (str(folder.resolve()) + "\n").encode()}))


def build_sdist(sdist_directory, config_settings=None):
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True)
    if listed.returncode == 0:
        names = [os.fsdecode(one) for one in listed.stdout.split(b"\0") if one]
    else:
        names = [path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*")
                 if path.is_file() and path.relative_to(ROOT).parts[0] not in ("build", ".git")]
    base = "hlosim-" + version()
    with tarfile.open(pathlib.Path(sdist_directory) / (base + ".tar.gz"), "w:gz") as archive:
        for name in names:
            if (ROOT / name).is_file():
                archive.add(ROOT / name, base + "/" + name)
        with tempfile.NamedTemporaryFile() as file:
            file.write(metadata()["METADATA"].encode())
            file.flush()
            archive.add(file.name, base + "/PKG-INFO")
    return base + ".tar.gz"
