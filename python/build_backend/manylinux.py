"""Wheels that run without the packages of the build's machine: the rules of manylinux (PEP 600), and how a wheel is made to keep them.

  problems(wheel)            what breaks the rules, as sentences; empty: the wheel keeps those of its tag
  self_contained(wheel, to)  the wheel with the libraries that it needs inside, under the tag that holds; its path

The rules are those that `auditwheel show` checks: a wheel may link only libraries that every Linux of the tag's age has, and of
these only symbols of versions that existed then; other libraries are inside. `readelf` (binutils) reads files, `patchelf` changes
them; nothing else is needed.
"""
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

# Libraries that a system has, as PEP 513 lists them and auditwheel has continued it.
SYSTEM = set("""ld-linux-x86-64.so.2 libc.so.6 libm.so.6 libdl.so.2 librt.so.1 libpthread.so.0 libutil.so.1 libnsl.so.1 libanl.so.1
  libresolv.so.2 libgcc_s.so.1 libstdc++.so.6 libatomic.so.1 libz.so.1 libexpat.so.1""".split())
# Newest symbol versions by the glibc of the tag: what the distributions of that age have, as auditwheel's policies do.
NEWEST = {
    (2, 34): {"GLIBCXX": (3, 4, 29), "CXXABI": (1, 3, 13), "GCC": (7, 0, 0), "ZLIB": (1, 2, 9), "LIBATOMIC": (1, 2)},
    (2, 35): {"GLIBCXX": (3, 4, 30), "CXXABI": (1, 3, 13), "GCC": (12, 0, 0), "ZLIB": (1, 2, 9), "LIBATOMIC": (1, 2)},
    (2, 36): {"GLIBCXX": (3, 4, 30), "CXXABI": (1, 3, 13), "GCC": (12, 0, 0), "ZLIB": (1, 2, 9), "LIBATOMIC": (1, 2)},
}
ELF = b"\x7fELF"


def readelf(*arguments):
    return subprocess.run(["readelf", "-W", *map(str, arguments)], capture_output=True, text=True, check=True).stdout


def dynamic(path):
    """(needed libraries, folders of RUNPATH or RPATH, SONAME or None) of an ELF file."""
    text = readelf("-d", path)
    paths = re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", text)
    name = re.search(r"\(SONAME\).*\[(.*)\]", text)
    return re.findall(r"\(NEEDED\).*\[(.*)\]", text), [one for part in paths for one in part.split(":")], name and name.group(1)


def versions(path):
    """Of every library that an ELF file needs the versions of symbols: {"libc.so.6": {"GLIBC_2.35", …}}."""
    found, library = {}, None
    part = readelf("-V", path).partition("Version needs section")[2]
    for line in part.split("\n"):
        if match := re.search(r"File: (\S+)", line):
            library = match.group(1)
        if match := re.search(r"Name: (\S+)", line):
            found.setdefault(library, set()).add(match.group(1))
    return found


def number(text):
    return tuple(map(int, text.split(".")))


def too_new(version, glibc):
    """Whether systems with that glibc may lack "GLIBC_2.36"; versions that are words were never added later."""
    name, _, text = version.rpartition("_")
    if not re.fullmatch(r"[0-9.]+", text):
        return name == "GLIBC" and text == "PRIVATE"
    limit = glibc if name == "GLIBC" else NEWEST[glibc].get(name)
    return limit is None or number(text) > limit


def elf_files(folder):
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and path.open("rb").read(4) == ELF]


def glibc_of_tag(name):
    match = re.search(r"-manylinux_(\d+)_(\d+)_x86_64\.whl$", name)
    return match and (int(match.group(1)), int(match.group(2)))


def problems_of_file(path, inside, glibc):
    needed, paths, _ = dynamic(path)
    found = []
    for library in needed:
        if library in inside:
            places = [one for one in paths if one.startswith("$ORIGIN")]
            if not any((path.parent / one[len("$ORIGIN"):].lstrip("/") / library).exists() for one in places):
                found.append(f"{path.name}: {library} is in the wheel, but not where the file looks for it: {paths}")
        elif library not in SYSTEM:
            found.append(f"{path.name}: needs {library}, which is not part of every system and not in the wheel")
    found += [f"{path.name}: looks for libraries in {one}, outside of the wheel" for one in paths if not one.startswith("$ORIGIN")]
    for library, needs in sorted(versions(path).items()):
        if library not in inside:
            found += [f"{path.name}: needs {one} of {library}, newer than manylinux_{glibc[0]}_{glibc[1]}"
                      for one in sorted(needs) if too_new(one, glibc)]
    return found


def problems(wheel):
    wheel = pathlib.Path(wheel)
    glibc = glibc_of_tag(wheel.name)
    if not glibc:
        return [f"{wheel.name}: its tag is not one of manylinux for x86-64"]
    if glibc not in NEWEST:
        return [f"{wheel.name}: the rules of manylinux_{glibc[0]}_{glibc[1]} are not known here, only of " +
                ", ".join("%d.%d" % one for one in sorted(NEWEST))]
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
        info = archive.read(next(one for one in archive.namelist() if one.endswith(".dist-info/WHEEL"))).decode()
        files = elf_files(pathlib.Path(folder))
        inside = {path.name for path in files}
        found = [] if "Root-Is-Purelib: false" in info else ["WHEEL: a wheel with machine code is not pure"]
        if f"Tag: {'-'.join(wheel.stem.split('-')[2:])}\n" not in info:
            found.append("WHEEL: its tag is not that of the file's name")
        return found + [one for path in files for one in problems_of_file(path, inside, glibc)]


def resolved(library):
    """The path of a library as the system's loader finds it."""
    listed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    match = re.search(r"^\s*" + re.escape(library) + r" \(libc6,x86-64.*\) => (\S+)$", listed, re.M)
    if not match:
        raise SystemExit(f"{library} is needed, and not found")
    return pathlib.Path(match.group(1))


def bring_in(folder, libraries):
    """Copies what ELF files of `folder` need into `libraries`, under names of their own, and lets them look there."""
    names, todo = {}, elf_files(folder)
    while todo:
        path = todo.pop()
        for library in dynamic(path)[0]:
            if library in SYSTEM:
                continue
            if library.startswith("libmpi"):
                raise SystemExit("the extension is linked with MPI, which loads files outside of any wheel; "
                                 "build it with -DHLOSIM_MPI=OFF")
            if library not in names:
                data = resolved(library).read_bytes()
                stem, _, rest = library.partition(".so")
                names[library] = f"{stem}-{hashlib.sha256(data).hexdigest()[:8]}.so{rest}"
                libraries.mkdir(exist_ok=True)
                copy = libraries / names[library]
                copy.write_bytes(data)
                copy.chmod(0o755)
                subprocess.run(["patchelf", "--set-soname", names[library], copy], check=True)
                todo.append(copy)
            subprocess.run(["patchelf", "--replace-needed", library, names[library], path], check=True)
        up = "/".join([".."] * len(path.parent.relative_to(folder).parts))
        where = "$ORIGIN" if path.parent == libraries else f"$ORIGIN/{up}/{libraries.name}"
        if path.parent == libraries or names:
            subprocess.run(["patchelf", "--force-rpath", "--set-rpath", where, path], check=True)


def oldest_glibc(folder):
    """The oldest glibc for which all versions of symbols exist."""
    files = elf_files(folder)
    inside = {path.name for path in files}
    for glibc in sorted(NEWEST):
        if not any(too_new(one, glibc) for path in files for library, needs in versions(path).items()
                   if library not in inside for one in needs):
            return glibc
    raise SystemExit("symbols are newer than those of any manylinux that is known here")


def self_contained(wheel, to):
    wheel = pathlib.Path(wheel)
    if not shutil.which("patchelf"):
        raise SystemExit("patchelf is missing; `scripts/setup wheel` installs it")
    import hlosim_build
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
        name, version, python, abi = wheel.stem.split("-")[:4]
        bring_in(folder, folder / f"{name}.libs")
        tag = "%s-%s-manylinux_%d_%d_x86_64" % (python, abi, *oldest_glibc(folder))
        files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*")
                 if path.is_file() and not path.name == "RECORD"}
        return pathlib.Path(to) / hlosim_build.write_wheel(to, files, tag)


def main():
    if len(sys.argv) < 2:
        raise SystemExit("usage: manylinux.py WHEEL...")
    wrong = 0
    for wheel in sys.argv[1:]:
        found = problems(wheel)
        wrong += len(found)
        print("\n".join(found) if found else f"{wheel}: keeps the rules of its tag")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
