#!/usr/bin/env python3
"""Folders as --xla_dump_to writes them: usage dump_folder_test.py HLOSIM"""
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

HLOSIM = sys.argv[1]
MODULE = """HloModule m{number}, is_scheduled=true
ENTRY %main (p: f32[{size}]) -> f32[{size}] {{
  %p = f32[{size}]{{0}} parameter(0)
  ROOT %n = f32[{size}]{{0}} negate(%p)
}}
"""
BUFFERS = """BufferAssignment:
allocation 0: size 4096, page 0, parameter 0, shape |f32[1024]| at ShapeIndex {}:
 value: <0 p @0> (size=4096,offset=0): f32[1024]{0}
allocation 1: size 4096, page 0, output shape is |f32[1024]|, maybe-live-out:
 value: <1 n @0> (size=4096,offset=0): f32[1024]{0}
"""


def run(*arguments, code=0):
    done = subprocess.run([HLOSIM, *arguments], capture_output=True, text=True)
    assert done.returncode == code, (arguments, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout, done.stderr


def table(text):
    return [line.split() for line in text.splitlines() if line.startswith("  ")]


def without_places(reports):
    """Reports without the names of files and the numbers of lines."""
    text = json.dumps(reports, indent=1)
    return [line for line in text.splitlines() if "module_0005" not in line and '"line":' not in line]


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        for number in range(200):
            text = MODULE.format(number=number, size=1024 * (number + 1))
            stem = f"module_{number:04}.m{number}"
            (path / f"{stem}.before_optimizations.txt").write_text(text.replace(", is_scheduled=true", ""))
            if number % 2:
                (path / f"{stem}.cpu_after_optimizations.txt").write_text(text)
            else:
                (path / f"{stem}.cpu_after_optimizations.txt.gz").write_bytes(gzip.compress(text.encode()))
        (path / "module_0000.m0.cpu_after_optimizations-buffer-assignment.txt").write_text(BUFFERS)
        (path / "module_0000.m0.debug_options").write_text("nothing of ours")

        out, err = run("report", "--device=v5e", folder)
        assert not err, err
        rows = table(out)
        assert out.startswith(f"200 modules of {folder} on TPU v5e\n"), out[:200]
        assert [[row[0], row[1][:11], row[2]] for row in rows[1:201]] == [[f"m{n}", f"module_{n:04}", "after"] for n in range(200)], rows[:5]
        assert rows[0][-2:] == ["XLA", "allocates"] and rows[1][-2:] == ["8.00", "KiB"], rows[:3]
        assert rows[201][0] == "all" and len(rows) == 202, rows[-1]

        reports = json.loads(run("report", "--device=v5e", "--format=json", folder)[0])
        assert [report["module"]["name"] for report in reports] == [f"m{n}" for n in range(200)]
        assert all(report["module"]["is_scheduled"] for report in reports)
        traffic = sum(8 * 1024 * (n + 1) for n in range(200)) / 2**20
        assert f"{traffic:.2f} MiB".split() == rows[201][3:5], (traffic, rows[201])

        # One module alone has its whole report; a packed file the same as a plain one.
        out, _ = run("report", "--device=v5e", "--module=^m7$", folder)
        assert out.startswith("m7 on TPU v5e\n"), out[:200]
        run("report", "--device=v5e", "--module=none", folder, code=2)

        out, _ = run("report", "--list", folder)
        assert len(out.splitlines()) == 201 and out.splitlines()[1].split()[:7] == ["0", "m0", "cpu", "yes", "0", "yes", "yes"], out[:400]
        out, _ = run("report", "--list", "--module=m19", folder)
        assert len(out.splitlines()) == 12, out
        run("report", "--list", "--module=none", folder, code=2)

        # Before optimisation, which is the same but for the schedule, and after.
        out, err = run("report", "--device=v5e", "--before", "--module=^m1", folder)
        assert not err, err
        rows = [row for row in table(out.split("Before XLA's optimization")[1])]
        assert rows[0][:3] == ["module", "time", "before"] and [row[0] for row in rows[1:-1]] == [f"m{n}" for n in range(200) if str(n)[0] == "1"], rows
        assert rows[-1][0] == "all" and "same" in rows[1], rows
        out, _ = run("report", "--device=v5e", "--diff", "--module=^m7$", folder)
        assert out.startswith("m7 on TPU v5e\n") and "Before XLA's optimization" in out and "m7 (" in out and " → m7 (" in out, out[-2000:]
        changed = path / "module_0009.m9.before_optimizations.txt"
        changed.write_text(MODULE.format(number=9, size=20480).replace(", is_scheduled=true", ""))
        out, _ = run("report", "--device=v5e", "--diff", "--module=^m9$", folder)
        assert "-50.0 %" in out and "hbm_bytes: adds up to -" in out, out[-2000:]
        _, err = run("report", "--device=v5e", "--before", "--format=json", folder, code=2)
        assert "--before and --diff are for text" in err, err
        changed.write_text("HloModule m9\nENTRY e { what }\n")
        _, err = run("report", "--device=v5e", "--before", "--module=^m[89]$", folder, code=2)
        assert "module_0009.m9.before_optimizations.txt:2:" in err, err
        changed.unlink()
        out, _ = run("report", "--device=v5e", "--before", "--module=^m9$", folder)
        assert "No module has files from both" in out, out[-500:]

        # A proto instead of the text gives the same report.
        wanted = json.loads(run("report", "--device=v5e", "--format=json", "--module=^m5$", folder)[0])
        plain = path / "module_0005.m5.cpu_after_optimizations.txt"
        run("print", str(plain), "--format=pb", "-o", str(plain.with_name("module_0005.m5.cpu_after_optimizations.hlo.pb")))
        plain.unlink()
        got = json.loads(run("report", "--device=v5e", "--format=json", "--module=^m5$", folder)[0])
        assert without_places(got) == without_places(wanted), (got, wanted)

        # What is wrong with one is reported, and the others are answered for.
        (path / "module_0003.m3.cpu_after_optimizations.txt").write_text("HloModule m3\nENTRY e { what }\n")
        (path / "module_0000.m0.cpu_after_optimizations-buffer-assignment.txt").write_text("BufferAssignment:\nwhat\n")
        out, err = run("report", "--device=v5e", folder, code=2)
        assert out.startswith("199 modules"), out[:100]
        assert "module_0003.m3.cpu_after_optimizations.txt:2:" in err and "warning" in err, err

    with tempfile.TemporaryDirectory() as folder:
        _, err = run("report", "--device=v5e", folder, code=2)
        assert "holds no module" in err, err
        (pathlib.Path(folder) / "plugins/profile/1").mkdir(parents=True)
        _, err = run("report", "--device=v5e", folder, code=2)
        assert "holds profiles, not programs" in err and f"hlosim profile {folder}" in err, err


main()
