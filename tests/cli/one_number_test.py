#!/usr/bin/env python3
"""One quantity of one instruction is one number, wherever it stands: text, JSON, CSV and page of `report`, `explain`,
`trace`, `diff`, `gate` and `sweep` are held against each other, and parts against their sums.

  one_number_test.py PROGRAM SOURCE_DIR
"""
import base64
import csv
import functools
import gzip
import io
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
SAME_COLUMNS = ["opcode", "computation", "line", "executions", "start_ps", "time_ps", "self_time_ps", "exposed_ps", "bound_by",
                "category", "provenance", "flops", "vector_operations", "transcendentals", "logical_bytes", "padded_bytes"]


def hlosim(*arguments, fails=False):
    run = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert fails or run.returncode == 0, f"{arguments}: {run.stderr}"
    return run.stdout


def documents(text):
    document = json.loads(text)
    return document if isinstance(document, list) else [document]


@functools.lru_cache(maxsize=None)
def reports_of(path, device="v5e"):
    """Empty: it is no right module."""
    text = hlosim("report", f"--device={device}", "--format=json", path, fails=True)
    return documents(text) if text else []


def own_modules():
    return sorted([*SOURCE.glob("tests/samples/*.hlo"), *SOURCE.glob("examples/*.hlo")])


def other_modules():
    return sorted([*SHARED.glob("seeds/*.txt"), *sorted(SHARED.glob("corpus/**/*.hlo"))[::200]])


def tables(text):
    """Title of a table: {what it says first in a line: the line's cells by column}."""
    found, title, columns = {}, "", None
    for line in text.splitlines():
        if line and line[0] != " ":
            title, columns = line, None
        elif columns is None and re.match(r"  (instruction|start) ", line):
            columns = [(match.group(), match.start(), match.end()) for match in re.finditer(r"\S+(?: \S+)*", line)]
        elif columns is not None and (not line.strip() or re.match(r"  (and [\d,]+ more|\S+: )", line)):
            columns = None
        elif columns is not None:
            cells = re.split(r"  +", line.strip())
            found.setdefault(title, []).append(dict(zip([name for name, _, _ in columns], cells)))
    return found


def picoseconds(text):
    number, unit = text.split(" ")
    return float(number) * {"ps": 1, "ns": 1e3, "us": 1e6, "ms": 1e9, "s": 1e12}[unit]


def byte_count(text):
    number, unit = text.split(" ")[:2]
    return float(number) * 1024 ** ["B", "KiB", "MiB", "GiB", "TiB", "PiB"].index(unit)


def count(text):
    number, _, factor = text.replace(",", "").strip().partition(" ")
    return float(number) * {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}[factor]


class OneNumber(unittest.TestCase):
    def close(self, text, read, number, what):
        """What people read has four digits, or two behind the point."""
        digits = text.split(" ")[0]
        last = 10.0 ** -len(digits.partition(".")[2]) if "e" not in digits else 1e-3 * float(digits)
        step = abs(read(f"{last} {' '.join(text.split(' ')[1:])}".strip()))
        self.assertLessEqual(abs(read(text) - number), 0.51 * step, f"{what}: {text} of {number}")

    def each(self, modules, check):
        for path in modules:
            with self.subTest(module=path.name):
                check(path, reports_of(path))

    def sums(self, path, reports):
        for report in reports:
            time, rows, metrics = report["time"], report["instructions"], report["comparison"]["metrics"]
            total = {metric["metric"]: metric["total"] for metric in metrics}
            self.assertEqual(sum(row["self_time_ps"] for row in rows), time["total_ps"])
            for category, amount in time["by_category_ps"].items():
                parts = (row["exposed_ps"] if category == "waiting" else row["self_time_ps"] - row["exposed_ps"]
                         for row in rows if category in ("waiting", row["category"]))
                self.assertEqual(sum(parts), amount, category)
            for kind, name in (("copies", "exposed_copies"), ("collectives", "exposed_collectives"),
                               ("other_transfers", "exposed_others")):
                exposed = sum(row["exposed_ps"] * row["executions"] for row in report[kind])
                self.assertEqual((exposed, exposed), (time[name + "_ps"], total[name]), kind)
            for key in ("flops", "vector_operations", "transcendentals"):
                self.assertEqual(sum(row[key] or 0 for row in rows), report["work"][key], key)
                self.assertEqual(total[key], report["work"][key], key)
            for key in ("logical_bytes", "padded_bytes"):
                self.assertEqual(sum(row[key] for row in rows), report["traffic"][key], key)
            for space in report["traffic"]["spaces"]:
                for key in ("read_bytes", "written_bytes"):
                    parts = (one[key] for row in rows for one in row["traffic"] if one["space"] == space["space"])
                    self.assertEqual(sum(parts), space[key], (space["space"], key))
            self.assertEqual(sum(row["sent_bytes"] * row["executions"] for row in report["collectives"]), total["sent_bytes"])
            self.assertEqual((time["total_ps"], report["traffic"]["hbm_bytes"], report["traffic"]["sent_bytes"]),
                             (total["time"], total["hbm_bytes"], total["sent_bytes"]))
            for metric, index in zip(metrics, range(len(metrics))):
                if metric["metric"].startswith("peak.") or metric["metric"] == "padding_bytes":
                    continue
                parts = sum(row["amounts"][index] for row in report["compared_instructions"])
                self.assertEqual(parts, metric["total"], metric["metric"])
            self.compared(report)

    def compared(self, report):
        metrics = [metric["metric"] for metric in report["comparison"]["metrics"]]
        by_name = {(row["computation"], row["name"]): row for row in report["compared_instructions"]}
        for row in report["instructions"]:
            other = by_name[row["computation"], row["name"]]
            amounts = dict(zip(metrics, other["amounts"]))
            hbm = sum(one["read_bytes"] + one["written_bytes"] for one in row["traffic"] if one["space"] == "hbm")
            self.assertEqual((amounts["time"], amounts["hbm_bytes"], amounts["flops"]),
                             (row["self_time_ps"], hbm, row["flops"] or 0), row["name"])
            for key in ("opcode", "op_name", "source_file", "source_line", "line", "executions", "bound_by"):
                self.assertEqual(other[key], row[key], (row["name"], key))

    def in_csv(self, path, reports):
        lines = list(csv.DictReader(io.StringIO(hlosim("report", "--device=v5e", "--format=csv", path))))
        rows = [row for report in reports for row in report["instructions"]]
        self.assertEqual([line["instruction"] for line in lines], [row["name"] for row in rows])
        for line, row in zip(lines, rows):
            for key in SAME_COLUMNS:
                self.assertEqual(line[key], "" if row[key] is None else str(row[key]), (row["name"], key))
            for one in row["traffic"]:
                for key in ("read_bytes", "written_bytes"):
                    self.assertEqual(line[f"{one['space']}_{key}"], str(one[key]), (row["name"], one["space"]))

    def in_text(self, path, reports):
        texts = hlosim("report", "--device=v5e", "--full", "--top=0", path)
        starts = [match.start() for match in re.finditer(r"(?m)^\S+ on TPU v5e$", texts)]
        self.assertEqual(len(starts), len(reports))
        for report, begin, end in zip(reports, starts, [*starts[1:], None]):
            found = tables(texts[begin:end])
            longest = [rows for title, rows in found.items() if title.startswith("Longest instructions")]
            by_name = {}
            for row in report["instructions"]:
                by_name.setdefault(row["name"], []).append(row)
            for cells in longest[0] if longest else []:
                if len(by_name.get(cells["instruction"], [])) != 1:
                    continue  # shortened, or twice
                row = by_name[cells["instruction"]][0]
                self.assertEqual((cells["runs"].replace(",", ""), cells["bound by"], cells["line"]),
                                 (str(row["executions"]), row["bound_by"], str(row["line"] or "-")), cells)
                self.close(cells["time"], picoseconds, row["self_time_ps"], cells)
                self.close(cells["bytes"], byte_count, row["padded_bytes"], cells)
                if row["flops"] is not None:
                    self.close(cells["FLOP"], count, row["flops"], cells)
            self.transfers_in_text(report, found)

    def transfers_in_text(self, report, found):
        for kind, title in (("copies", "Asynchronous copies"), ("collectives", "Collectives"), ("other_transfers", "Host transfers")):
            named = [(name, rows) for name, rows in found.items() if name.startswith(title)]
            by_name = {row["start"]: row for row in report[kind]}
            for name, rows in named:
                self.assertIn("one run", name)  # whose are these numbers?
                for cells in rows:
                    row = by_name.get(cells.get("start", cells.get("instruction")))
                    if row is None:
                        continue  # shortened
                    self.assertEqual(cells["runs"].replace(",", ""), str(row["executions"]), cells)
                    for column, key in (("takes", "duration_ps"), ("hidden", "hidden_ps"), ("exposed", "exposed_ps"), ("queued", "queued_ps")):
                        if column in cells:
                            self.close(cells[column], picoseconds, row[key], cells)
                    if "sent" in cells and cells["sent"] != "unknown":
                        self.close(cells["sent"], byte_count, row["sent_bytes"], cells)

    def in_page(self, path, reports):
        page = hlosim("report", "--device=v5e", "--format=html", path)
        parts = re.findall(r'<script type="text/plain" class="data" data-module="(\d+)" data-part="report"[^>]*>([^<]*)<', page)
        self.assertEqual(len(parts), len(reports))
        for number, data in parts:
            inside = json.loads(gzip.decompress(base64.b64decode(data)))
            report = reports[int(number)]
            for part in ("time", "work", "memory", "traffic", "coverage", "padding_total"):
                self.assertEqual(inside[part], report[part], part)

    def in_trace(self, path, reports):
        with tempfile.TemporaryDirectory() as folder:
            trace = pathlib.Path(folder) / "t.json"
            hlosim("trace", "--device=v5e", path, "-o", trace)
            events = json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]
        if len(reports) > 1 or any(event["name"].startswith("…") for event in events):
            return
        core = {event["tid"] for event in events if event["ph"] == "M" and event["args"].get("name") == "TensorCore"}
        times, flops = {}, {}
        for event in events:
            if event["ph"] == "X" and event["tid"] in core:
                name = event["name"].removesuffix(" (waiting)")
                times[name] = times.get(name, 0) + event["dur"]
                flops[name] = flops.get(name, 0) + event["args"].get("flops", 0)
        names = [row["name"] for row in reports[0]["instructions"]]
        for row in reports[0]["instructions"]:
            if names.count(row["name"]) == 1 and row["time_ps"] > 0:
                self.assertAlmostEqual(times.get(row["name"], 0) * 1e6, row["time_ps"], delta=1, msg=row["name"])
                if row["time_ps"] == row["self_time_ps"]:
                    self.assertEqual(flops.get(row["name"], 0), row["flops"] or 0, row["name"])

    def explained(self, path, reports):
        if len(reports) > 1:
            return
        report = reports[0]
        names = re.findall(r"(?m)^\s*(?:ROOT )?%?([\w.-]+) = ", path.read_text(encoding="utf-8"))
        rows = sorted(report["instructions"], key=lambda row: -row["self_time_ps"])[:3]
        rows += [row for row in report["instructions"] if row["exposed_ps"] > 0][:2]
        starts = {row["start"]: row for row in (*report["copies"], *report["collectives"])}
        for row in rows:
            if names.count(row["name"]) > 1:
                continue  # of the same name another one that doesn't run by itself
            said = documents(hlosim("explain", path, row["name"], "--device=v5e", "--format=json"))[0]
            self.assertEqual((said["in_run_ps"], said["waited_ps"]), (row["time_ps"], row["exposed_ps"]), row["name"])
            for key in ("opcode", "computation", "executions", "waited_for"):
                self.assertEqual(said[key], row[key], (row["name"], key))
            if row["bound_by"] != "wait":  # which is no part of what it takes each time
                self.assertEqual(said["bound_by_in_run"], row["bound_by"], row["name"])
            for name in {row["name"], row["waited_for"]} & set(starts):
                told = hlosim("explain", path, name, "--device=v5e")
                for label, key in (("hidden", "hidden_ps"), ("exposed", "exposed_ps"), ("queue", "queued_ps")):
                    for text in re.findall(rf"(?m)^    {label} +([\d.]+(?:e[+-]\d+)? [mun]?p?s)  +the run$", told)[:1]:
                        self.close(text, picoseconds, starts[name][key], (name, label))

    def compared_with_itself(self, path, reports):
        if len(reports) > 1:
            return
        said = json.loads(hlosim("diff", "--device=v5e", "--format=json", path, path))
        for metric, other in zip(reports[0]["comparison"]["metrics"], said["metrics"]):
            self.assertEqual((other["before"], other["after"], other["change"]), (metric["total"], metric["total"], 0), metric)
            self.assertIn(other["metric"], (metric["metric"], metric["metric"] + "_ps"))

    def test_parts_add_up(self):
        self.each(own_modules(), self.sums)

    def test_csv(self):
        self.each(own_modules(), self.in_csv)

    def test_text(self):
        self.each(own_modules(), self.in_text)

    def test_page(self):
        self.each(own_modules(), self.in_page)

    def test_trace(self):
        self.each(own_modules(), self.in_trace)

    def test_explain(self):
        self.each(own_modules(), self.explained)

    def test_diff(self):
        self.each(own_modules(), self.compared_with_itself)

    def test_modules_of_others(self):
        if not other_modules():
            self.skipTest(f"no modules in {SHARED}; the same is tested on this project's own")
        self.each([path for path in other_modules() if reports_of(path)],
                  lambda path, reports: [check(path, reports) for check in (self.sums, self.in_csv, self.in_text, self.explained)])

    def test_gate_and_sweep(self):
        paths = [path for path in own_modules() if len(reports_of(path)) == 1]
        with tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder) / "both.yaml"
            config.write_text(json.dumps({"modules": [str(path) for path in paths], "devices": ["v5e", "v4"]}), encoding="utf-8")
            gated = json.loads(hlosim("gate", f"--config={config}", "--json=-", "--on-new=pass"))["modules"]
            swept = json.loads(hlosim("sweep", config, "--no-journal", "--format=json"))["points"]
            table = list(csv.DictReader(io.StringIO(hlosim("sweep", config, "--no-journal", "--format=csv"))))
            self.assertEqual(len(table), len(swept))
        for device in ("v5e", "v4"):
            for path in paths:
                report = reports_of(path, device)[0]
                total = {metric["metric"]: metric["total"] for metric in report["comparison"]["metrics"]}
                rows = next(one for one in gated if (one["file"], one["device"]) == (str(path), device))["metrics"]
                for row in rows:
                    self.assertEqual(row["after"], total[row["metric"]], (path, row))
                point = next(one for one in swept if (one["module"], one["device"]) == (path.stem, device))["metrics"]
                exposed = total["exposed_copies"] + total["exposed_collectives"] + total["exposed_others"]
                expected = {"time": total["time"], "lower_bound": report["time"]["lower_bound_ps"], "exposed": exposed,
                            "cycles": report["time"]["cycles"], "flops": total["flops"], "hbm_bytes": total["hbm_bytes"],
                            "sent_bytes": total["sent_bytes"], "hbm_peak": total.get("peak.hbm", 0),
                            "vmem_peak": total.get("peak.vmem", 0), "fits": int(report["memory"]["fits"])}
                self.assertEqual({key: point[key] for key in expected}, expected, path)
                line = next(one for one in table if (one["module"], one["device"]) == (path.stem, device))
                for key, number in point.items():
                    column = next(name for name in line if re.fullmatch(rf"{key}(_ps|_bytes)?", name))
                    self.assertEqual(float(line[column]), number, (path, column))
                    self.assertNotIn("bytes_bytes", column)


if __name__ == "__main__":
    unittest.main()
