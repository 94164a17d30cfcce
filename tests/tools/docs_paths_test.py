"""Files and folders that the documentation, the comments of the code, and the lists of tools/ name exist.

  docs_paths_test.py ROOT

Paths are read as from the root (src/ir/hlo/module.h), or as includes name headers (hlo/module.h), or as from the file's own
folder, as are links of documents. `<name>` and `*` match any name, `{h,cc}` is both. Prints FILE:LINE: PATH for each that doesn't exist.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(sys.argv[1]).resolve()
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools"))
from districts import Rooms  # noqa: E402

TOPS = r"src|tests|docs|tools|configs|cmake|bench|fuzz|scripts|examples|reports|python"
FROM_ROOT = re.compile(rf"(?<![\w/.<>$}}*-])(?:\.\./)?((?:{TOPS})/[\w.<>{{}},*/-]*[\w>}}*/])")
HEADER = re.compile(rf"(?<![\w/.<>\"*-])(?!(?:{TOPS})/)([a-z_]+/(?:[\w/]+)\.(?:h|def|proto))\b(?!\.)")
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
# Paths of others' repositories, of what a build makes, of what a user has, and a method of MCP.
FOREIGN = re.compile(r"^(tools/call$|src/ui/|src/server/|docs/pallas/|bench/\w+_bench$|configs/my\.yaml$)")


def patterns(path):
    """The globs of a path."""
    path = re.sub(r"<[^<>]*>", "*", path.rstrip("/"))
    braces = re.search(r"\{([^{}]*)\}", path)
    if not braces:
        return [path]
    return [one for word in braces.group(1).split(",")
            for one in patterns(path[:braces.start()] + word + path[braces.end():])]


def exists(path):
    return all(any(ROOT.glob(pattern)) for pattern in patterns(path))


def prose(path, text):
    """A document, or the comments of code, line by line."""
    mark = None if path.endswith((".md", ".txt")) else "//" if path.endswith((".h", ".cc", ".def")) else "#"
    for line in text.splitlines():
        yield line if mark is None else line[line.index(mark):] if mark in line else ""


def findings(path, text, rooms):
    for number, line in enumerate(prose(path, text), 1):
        for name in FROM_ROOT.findall(line):
            if not FOREIGN.search(name) and not exists(name):
                yield number, name
        for name in HEADER.findall(line):
            near = (ROOT / path).parent / name
            if not FOREIGN.search(name) and not (ROOT / (rooms.path_of(name) or name)).exists() and not near.exists():
                yield number, name
        for name in LINK.findall(line) if path.endswith(".md") else ():
            if not (ROOT / path).parent.joinpath(name).exists():
                yield number, name


def main():
    rooms = Rooms(ROOT)
    planted = "`src/ir/hlo/module.h`, hlo/module.h, src/ir/hlo/*.h, src/hlo/module.h, hlo/modul.h, tools/<name>.no, [a](b.md)\n"
    assert [name for _, name in findings("a.md", planted, rooms)] == ["src/hlo/module.h", "tools/<name>.no", "hlo/modul.h", "b.md"]
    listed = subprocess.run(["git", "ls-files", "*.md", "*.h", "*.cc", "*.def", "*.cmake", "*CMakeLists.txt", "tools/*", ".ci/*",
                             "scripts/*", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    wrong = 0
    for path in listed.splitlines():
        if path.startswith(("tests/", "fuzz/corpus/")) or not (ROOT / path).is_file():
            continue
        for line, name in findings(path, (ROOT / path).read_text(encoding="utf-8"), rooms):
            print(f"{path}:{line}: {name} does not exist")
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
