"""What README.md shows as the output of `scripts/hlosim …` is what hlosim prints (a last line `…` stands for the rest), and
its errors are those of reports/accuracy; those of kernels and servers are measured anew where the shared folder is. Examples take
the times that their descriptions give.

  readme_test.py HLOSIM      (with HLOSIM_UPDATE=1 in the environment: rewrites the README)
"""
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("HLOSIM_SHARED_DIR", ROOT.parent / "shared"))
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


# Descriptions of the tuned twin: its file, and for each device how much less time it takes than the plain module, or how much
# longer that takes, as a pattern. Figures are right to a percentage point and a half.
TUNED = "examples/transformer_layers_tpu.hlo", "examples/transformer_layers.hlo"
TWINS = [("examples/README.md", {"v5e": r"(\d+) % less time than the lowered one above on v5e", "v6e": r"(\d+) % less on v6e",
                                 "v5p": r"(\d+) % less on v5p and v7x", "v7x": r"(\d+) % less on v5p and v7x"}, lambda twin, plain: 1 - twin / plain),
         ("docs/lowering.md", {"v5e": r"takes (\d+) % longer than", "v6e": r"on v5e, (\d+) % on v6e", "v5p": r"(\d+) % on v5p and v7x",
                               "v7x": r"(\d+) % on v5p and v7x"}, lambda twin, plain: plain / twin - 1)]


def time_of(hlosim, file, device):
    return json.loads(output(hlosim, f"report {file} --device={device} --format=json"))["time"]["total_ps"]


def wrong_claims(hlosim):
    """What descriptions of examples say of their times and is not so."""
    found = []
    for file, patterns, change in TWINS:
        text = " ".join((ROOT / file).read_text(encoding="utf-8").split())
        for device, pattern in patterns.items():
            claimed = [int(one) for one in re.findall(pattern, text)]
            right = 100 * change(*(time_of(hlosim, module, device) for module in TUNED))
            if len(claimed) != 1 or abs(claimed[0] - right) > 1.5:
                found.append(f"{file}: {pattern!r} finds {claimed}; on {device} it is {right:.1f} %")
    for device in ("v4", "v5e", "v5p", "v6e", "v7x"):
        if time_of(hlosim, "examples/mlp.hlo", device) < time_of(hlosim, "examples/mlp_plain.hlo", device):
            found.append(f"examples/README.md: mlp.hlo is faster than mlp_plain.hlo on {device}")
    return found


def measured_anew(hlosim):
    """Rows of errors that no report has, [beginning, figures], from the shared folder."""
    if not (SHARED / "measured").is_dir():
        return []
    figures = lambda one: f"{one['count']} | {100 * one['median']:.1f} % | {100 * one['p90']:.1f} %"  # noqa: E731
    ask = lambda file: json.loads(output(hlosim, f"accuracy {SHARED / file} --format=json"))  # noqa: E731
    servers = next(row for row in ask("serving/shown.json")["serving"]
                   if (row["generation"], row["servers"]) == ("all", "dense, 16 requests or more"))
    return [("kernels of servers", figures(ask("measured/kernels/cases-2.json")["headlines"][0]["model"])),
            ("published servers", figures(servers["time"]))]


def output(hlosim, arguments):
    result = subprocess.run([hlosim, *shlex.split(arguments)], capture_output=True, text=True, cwd=ROOT, check=True)
    return result.stdout


def shortened(text, lines):
    return "".join(text.splitlines(keepends=True)[:lines]) + "…\n"


def with_errors(text, anew):
    """The README with the errors of reports/accuracy and those measured anew, and the version of the model."""
    rows = list(anew)
    for begin, file, row, columns in ERRORS:
        lines = (ROOT / "reports" / "accuracy" / file).read_text(encoding="utf-8").splitlines()
        cells = next(line for line in lines if line.startswith(row)).split(" | ")
        rows.append((begin, " | ".join(cells[column - 1] for column in (5, *columns))))
    version = re.search(r"kModelVersion = (\d+);", (ROOT / "src/model/version.h").read_text()).group(1)
    text, found = re.subn(r"^Model version \d+,", f"Model version {version},", text, flags=re.M)
    if found != 1:
        sys.exit("README.md does not name the version of the model")
    for begin, figures in rows:
        text, found = re.subn(rf"^(\| {re.escape(begin)}[^|]* \| ).*( \|)$", rf"\g<1>{figures}\2", text, flags=re.M)
        if found != 1:
            sys.exit(f"README.md has {found} rows of errors that begin with {begin!r}")
    return text


def main(hlosim):
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    blocks = BLOCK.findall(text)
    anew = measured_anew(hlosim)
    if os.environ.get("HLOSIM_UPDATE"):
        def rewrite(match):
            new = output(hlosim, match.group(1))
            if match.group(2).endswith("…\n"):
                new = shortened(new, SHOWN_LINES)
            return f"$ scripts/hlosim {match.group(1)}\n{new}"
        readme.write_text(with_errors(BLOCK.sub(rewrite, text), anew), encoding="utf-8")
        return 0
    claims = wrong_claims(hlosim)
    print("".join(claim + "\n" for claim in claims), end="")
    wrong = len(claims)
    for shown, right in zip(text.splitlines(), with_errors(text, anew).splitlines()):
        if shown != right:
            print(f"README.md has\n{shown}\nright is\n{right}")
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
