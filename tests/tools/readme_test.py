"""What README.md shows as the output of `scripts/hlosim …` is what hlosim prints (a last line `…` stands for the rest), and
its errors are those of reports/accuracy.

  readme_test.py HLOSIM      (with HLOSIM_UPDATE=1 in the environment: rewrites the README)
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"(?<=```console\n)\$ scripts/hlosim ([^\n]*)\n(.*?)(?=```)", re.S)
SHOWN_LINES = 15  # of an output that ends in `…`, when it is rewritten
# Rows of README.md's table of errors: how they begin, the file with the figures, the row there, and the columns of median and 90 %.
ERRORS = [
    ("single operations in", "accuracy.md", "| all | all | single | native |", (6, 7)),
    ("modules of several", "accuracy.md", "| all | all | module | native |", (6, 7)),
    ("all cases", "accuracy.md", "| all | all | all | all |", (6, 7)),
    ("the same cases by a roofline", "accuracy.md", "| all | all | all | all |", (11, 12)),
    ("whole steps of", "published/accuracy.md", "| all | all | all | all |", (6, 7)),
]


def output(hlosim, arguments):
    result = subprocess.run([hlosim, *shlex.split(arguments)], capture_output=True, text=True, cwd=ROOT, check=True)
    return result.stdout


def shortened(text, lines):
    return "".join(text.splitlines(keepends=True)[:lines]) + "…\n"


def with_errors(text):
    """The README with the errors of reports/accuracy."""
    for begin, file, row, columns in ERRORS:
        lines = (ROOT / "reports" / "accuracy" / file).read_text(encoding="utf-8").splitlines()
        cells = next(line for line in lines if line.startswith(row)).split(" | ")
        figures = " | ".join(cells[column - 1] for column in (5, *columns))
        text, found = re.subn(rf"^(\| {re.escape(begin)}[^|]* \| ).*( \|)$", rf"\g<1>{figures}\2", text, flags=re.M)
        if found != 1:
            sys.exit(f"README.md has {found} rows of errors that begin with {begin!r}")
    return text


def main(hlosim):
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    blocks = BLOCK.findall(text)
    if os.environ.get("HLOSIM_UPDATE"):
        def rewrite(match):
            new = output(hlosim, match.group(1))
            if match.group(2).endswith("…\n"):
                new = shortened(new, SHOWN_LINES)
            return f"$ scripts/hlosim {match.group(1)}\n{new}"
        readme.write_text(with_errors(BLOCK.sub(rewrite, text)), encoding="utf-8")
        return 0
    wrong = 0
    for shown, right in zip(text.splitlines(), with_errors(text).splitlines()):
        if shown != right:
            print(f"README.md has\n{shown}\nreports/accuracy has\n{right}")
            wrong += 1
    for arguments, shown in blocks:
        printed = output(hlosim, arguments)
        if shown.endswith("…\n"):
            printed = shortened(printed, shown.count("\n") - 1)
        if shown != printed:
            print(f"README.md shows for hlosim {arguments}:\n{shown}\nIt prints:\n{printed}")
            wrong += 1
    print(f"{len(blocks)} outputs, {wrong} wrong")
    return 1 if wrong or not blocks else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
