#!/usr/bin/env python3
"""Sharded modules are partitioned by whatever estimates them, and all give the same picosecond: `report` in all its formats,
with and without --partitions, `explain`, `diff`, `gate`, `sweep`, `trace`, the tuners, and reports of what `partition`, `lower` and
tuners wrote.

  sharded_number_test.py PROGRAM SOURCE_DIR
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop(2))
PROGRAM = sys.argv.pop(1)
SHARED = pathlib.Path(os.environ.get("HLOSIM_SHARED_DIR", SOURCE.parent / "shared"))
DEVICE = "--device=v5e"
PARTITIONED = re.compile(r"hlosim partitioned the module over (\d+) devices, as its shardings specify")
# What tuners say of the program before and after; without a search.
TUNERS = {
    "layout": (["--moves=0", "--exact-steps=0"], lambda said: (said["before"]["time_ps"], said["after"]["time_ps"])),
    "schedule": ([], lambda said: (said["time_before_ps"], said["time_after_ps"])),
    "prefetch": (["--moves=0"], lambda said: (said["input"]["time_ps"], said["tuned"]["time_ps"])),
}


def hlosim(*arguments, fails=False):
    run = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert fails or run.returncode in (0, 1), f"{arguments}: {run.stderr}"
    return run.stdout if run.returncode in (0, 1) else ""


def report_of(path, *options):
    """None: it can't be run, or holds several modules."""
    text = hlosim("report", DEVICE, "--format=json", *options, path, fails=True)
    document = json.loads(text) if text else None
    return document if isinstance(document, dict) else None


def devices_of(report):
    """0: it was not partitioned."""
    found = [PARTITIONED.match(one["text"]) for one in report["assumptions"]]
    return next((int(one.group(1)) for one in found if one), 0)


def own_modules():
    return sorted(SOURCE.glob("tests/samples/sharded_*.hlo"))


def other_modules():
    files = sorted(path for folder in ("corpus/ok", "stablehlo/sharded") for path in SHARED.glob(folder + "/*"))
    sharded = [path for path in files if re.search(r"sharding=\{+devices=|sdy\.sharding", path.read_text("utf-8", "replace"))]
    return sharded[::40]


class ShardedNumber(unittest.TestCase):
    def setUp(self):
        # pylint: disable=consider-using-with
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def written(self, name):
        return pathlib.Path(self.folder.name) / name

    def time(self, path, *options):
        return report_of(path, *options)["time"]["total_ps"]

    def by_report(self, path, report):
        devices = devices_of(report)
        asked = report_of(path, f"--partitions={devices}")
        self.assertEqual({**asked, "flags": None}, {**report, "flags": None})
        text = hlosim("report", DEVICE, path)
        self.assertIn(f"hlosim partitioned the module over {devices} devices", text)
        self.assertEqual(report["module"]["partitions"], devices)
        whole = subprocess.run([PROGRAM, "report", DEVICE, "--no-partition", "--format=json", str(path)], capture_output=True,
                               text=True, check=True)
        self.assertIn("--no-partition lets one device run all of it", whole.stderr)
        self.assertIsNone(json.loads(whole.stdout)["time"]["range_ps"])

    def by_explain(self, path, report):
        source = path.read_text("utf-8")
        for row in sorted(report["instructions"], key=lambda row: -row["self_time_ps"])[:2]:
            if len(re.findall(rf"(?m)^\s*(?:ROOT )?%?{re.escape(row['name'])} = ", source)) > 1:
                continue  # of the same name another one, in another computation
            said = json.loads(hlosim("explain", DEVICE, "--format=json", path, row["name"]))
            self.assertEqual(said["in_run_ps"], row["time_ps"], row["name"])

    def by_comparisons(self, path, report):
        total = report["time"]["total_ps"]
        said = json.loads(hlosim("diff", DEVICE, "--format=json", path, path))["metrics"][0]
        self.assertEqual((said["metric"], said["before"], said["after"]), ("time_ps", total, total))
        config = self.written("both.yaml")
        config.write_text(json.dumps({"modules": [str(path)], "devices": ["v5e"]}), encoding="utf-8")
        gated = json.loads(hlosim("gate", f"--config={config}", "--json=-", "--on-new=pass"))["modules"][0]["metrics"]
        self.assertEqual(next(one["after"] for one in gated if one["metric"] == "time"), total)
        for partition, time in (("true", total), ("false", self.time(path, "--no-partition"))):
            config.write_text(json.dumps({"modules": [str(path)], "devices": ["v5e"], "knobs": {"partition": [partition]}}), encoding="utf-8")
            swept = json.loads(hlosim("sweep", config, "--no-journal", "--format=json"))["points"][0]["metrics"]
            self.assertEqual(swept["time"], time)
        config.write_text(json.dumps({"modules": [str(path)], "devices": ["v5e"], "partition": False}), encoding="utf-8")
        gated = json.loads(hlosim("gate", f"--config={config}", "--json=-", "--on-new=pass"))["modules"][0]["metrics"]
        self.assertEqual(next(one["after"] for one in gated if one["metric"] == "time"), self.time(path, "--no-partition"))

    def by_trace(self, path, report):
        trace = self.written("t.json")
        hlosim("trace", DEVICE, path, "-o", trace)
        events = json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]
        ends = [event["ts"] + event["dur"] for event in events if event["ph"] == "X"]
        self.assertAlmostEqual(max(ends) * 1e6, report["time"]["total_ps"], delta=1)

    def by_what_was_written(self, path, report):
        total = report["time"]["total_ps"]
        made = self.written("made.hlo")
        hlosim("lower", DEVICE, path, "-o", made)
        self.assertEqual(self.time(made), total)
        hlosim("partition", DEVICE, path, "-o", made)
        again = report_of(made)
        self.assertEqual((again["time"]["total_ps"], devices_of(again)), (total, 0))
        for tuner, (options, times) in TUNERS.items():
            said = times(json.loads(hlosim("tune", tuner, DEVICE, "--format=json", *options, path, "-o", made)))
            self.assertEqual((total, self.time(made)), said, tuner)

    def each(self, modules, checks):
        count = 0
        for path in modules:
            report = report_of(path)
            if not report or not devices_of(report):
                continue
            count += 1
            for check in checks:
                with self.subTest(module=path.name, check=check.__name__):
                    check(path, report)
        return count

    def test_own_modules(self):
        checks = [self.by_report, self.by_explain, self.by_comparisons, self.by_trace, self.by_what_was_written]
        self.assertEqual(self.each(own_modules(), checks), len(own_modules()))

    def test_modules_of_others(self):
        if not other_modules():
            self.skipTest(f"no modules in {SHARED}; the same is tested on this project's own")
        self.assertGreater(self.each(other_modules(), [self.by_report, self.by_what_was_written]), 5)


if __name__ == "__main__":
    unittest.main()
