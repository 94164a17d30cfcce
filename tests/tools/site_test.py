#!/usr/bin/env python3
"""The documentation builds as a site (mkdocs.yml): every page is in the navigation, and no link is broken.

Exit: 0 it builds without a warning, 1 it does not, 77 mkdocs-material is not installed.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    mkdocs = shutil.which("mkdocs")
    themes = subprocess.run([mkdocs, "build", "--help"], capture_output=True, text=True).stdout if mkdocs else ""
    if not re.search(r"--theme.*?\bmaterial\b", themes, re.S):
        print("mkdocs-material is not installed (scripts/setup docs): the site is not built")
        return 77
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    absent = sorted(pages - set(re.findall(r"[\w/-]+\.md", navigation)))
    for page in absent:
        print(f"mkdocs.yml: the navigation lacks docs/{page}")
    with tempfile.TemporaryDirectory() as folder:
        built = subprocess.run([mkdocs, "build", "--strict", "--quiet", "--site-dir", folder], cwd=ROOT, capture_output=True, text=True)
        print(built.stdout + built.stderr, end="")
        home = pathlib.Path(folder, "index.html")
        search = pathlib.Path(folder, "search", "search_index.json")
        complete = built.returncode == 0 and home.exists() and search.exists()
    return 0 if complete and not absent else 1


if __name__ == "__main__":
    sys.exit(main())
