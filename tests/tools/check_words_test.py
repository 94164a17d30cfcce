"""tools/check_words finds a private word at each place that it reads, and nothing in the field's own."""
import pathlib
import subprocess
import sys
import tempfile

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools/check_words"
CLEAN = {
    "README.md": "hlosim reports the dot of `matrix products`, and the answer is no (see `--windowed-products`).\n",
    "docs/a.md": "word " * 600,
    "src/report/text.cc": 'print("the TensorCore stalls");  // the busiest unit alone\n// "said before" too\n',
    "src/report/html/page.js": 'announce("assumed");\n',
    "src/report/html/page.html": "<p>unspecified</p>\n",
    "python/hlosim/a.py": '"""Assumes."""  # it says\nnote = "reported"\n',
    "tests/filetests/report/a.hlo": "// what it says\n// CHECK: perfect overlap\n",
}
HELP = """#!/bin/sh
case "$*" in
  help) printf 'Commands:\\n  tune      Searches.\\n' ;;
  "help tune") printf 'Searches.\\nCommands:\\n  tune mesh      Meshes.\\n' ;;
  "help tune mesh") echo "%s" ;;
esac
"""
WRONG = [("README.md", "The time of a matrix product.\n", "README.md:1: 'matrix product'"),
         ("src/report/text.cc", '\nprint("like programs");\n', "src/report/text.cc:2: 'like programs'"),
         ("src/report/html/page.js", "\n\nannounce(`it waits`);\n", "src/report/html/page.js:3: 'waits'"),
         ("src/report/html/page.html", "<p>nobody</p>\n", "src/report/html/page.html:1: 'nobody'"),
         ("tests/filetests/report/a.hlo", "// CHECK: dearest\n", "a.hlo:1: 'dearest'"),
         ("python/hlosim/a.py", '"""A."""\nnote = """x\nit says so"""\n', "python/hlosim/a.py:3: 'says'"),
         ("docs/a.md", "word " * 300 + "this is no number\n", "more than one in 500 words"),
         ("hlosim", HELP % "how it lies there", "hlosim help tune mesh:1: 'lies'")]


def check(folder):
    done = subprocess.run([sys.executable, TOOL, f"--root={folder}", folder / "hlosim"], capture_output=True, text=True)
    return done.returncode, done.stdout


def main():
    for name, text, expected in [(None, None, None), *WRONG]:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for path, content in {**CLEAN, "hlosim": HELP % "axes of a mesh", **({name: text} if name else {})}.items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_text(content)
            (folder / "hlosim").chmod(0o755)
            code, printed = check(folder)
            assert code == (1 if name else 0), (name, printed)
            assert not name or expected in printed, (name, printed)


main()
