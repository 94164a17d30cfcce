#!/usr/bin/env python3
"""`hlosim gate` and `hlosim diff` as a project uses them: planted regressions are found, edits without a meaning are
none, what continuous integration reads is well formed, and wrong input leaves no half-written file.

  gate_test.py PROGRAM SOURCE_DIR
"""
import gzip
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
import xml.etree.ElementTree

import gate_modules as modules

SOURCE = pathlib.Path(sys.argv.pop(2))
PROGRAM = sys.argv.pop(1)


def hlosim(*arguments, cwd, env=None):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, cwd=cwd,
                          env={**os.environ, **(env or {})}, check=False)


class Folder(unittest.TestCase):
    """A folder with a gate over m.hlo on v5e."""

    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.path = pathlib.Path(self.temporary.name)

    def write(self, name, text):
        (self.path / name).write_text(text, encoding="utf-8")

    def read(self, name):
        return (self.path / name).read_text(encoding="utf-8")

    def configure(self, extra="", devices="[v5e]"):
        self.write("hlosim-gate.yaml", f"modules: ['*.hlo']\ndevices: {devices}\n{extra}")

    def gate(self, *arguments, env=None):
        return hlosim("gate", *arguments, cwd=self.path, env=env)

    def accept(self, text, extra=""):
        self.configure(extra)
        self.write("m.hlo", text)
        run = self.gate("--update-baseline")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def rows(self, *arguments):
        run = self.gate("--json=-", *arguments)
        return run.returncode, {(m["device"], r["metric"]): r for m in json.loads(run.stdout)["modules"]
                                for r in m["metrics"]}


def planted():
    """Metric, edit of the layer's lines, and the instruction to blame."""
    def add_work(lines):
        lines.insert(modules.named(lines, "fourth") + 1, f"planted = f32[512,512]{modules.TILED} exponential(fourth)")
        return [line.replace("dot(fourth, fetched)", "dot(planted, fetched)") for line in lines]

    def wait_early(name, start):
        def edit(lines):
            done = lines.pop(modules.named(lines, name))
            lines.insert(modules.named(lines, start) + 1, done)
            return lines
        return edit

    def pad(lines):
        return [line.replace(f"second = f32[512,512]{modules.TILED}", "second = f32[512,512]{1,0:T(8,1024)}")
                for line in lines]

    def more_flops(lines):
        lines.insert(modules.named(lines, "second"), f"planted = f32[512,512]{modules.TILED} dot(first, w1), "
                     "lhs_contracting_dims={1}, rhs_contracting_dims={0}")
        return [line.replace("tanh(first)", "tanh(planted)") for line in lines]

    def keep_alive(lines):
        lines.insert(modules.named(lines, "second"), f"planted = f32[512,512]{modules.TILED} negate(x)")
        lines[-1] = lines[-1].replace("add(fifth, reduced)", "add(late, reduced)")
        lines.insert(len(lines) - 1, f"late = f32[512,512]{modules.TILED} add(fifth, planted)")
        return lines

    def fetch_twice(lines):
        lines.insert(modules.named(lines, "fetch") + 1,
                     "planted = (f32[512,512]{1,0:T(8,128)S(1)}, f32[512,512]{1,0:T(8,128)}, u32[]{:S(2)}) copy-start(w1)")
        lines.insert(modules.named(lines, "fetched") + 1, "got = f32[512,512]{1,0:T(8,128)S(1)} copy-done(planted)")
        return [line.replace("dot(fourth, fetched)", "dot(got, fetched)") for line in lines]

    def send_twice(lines):
        lines.insert(modules.named(lines, "out"), f"planted = f32[512,512]{modules.TILED} all-reduce(reduced), "
                     "replica_groups={{0,1,2,3}}, to_apply=sum")
        return [line.replace("add(fifth, reduced)", "add(fifth, planted)") for line in lines]

    return [("time", add_work, "planted"), ("exposed_copies", wait_early("fetched", "fetch"), "fetched"),
            ("exposed_collectives", wait_early("reduced", "reduce"), "reduced"), ("hbm_bytes", add_work, "planted"),
            ("padding_bytes", pad, "second"), ("flops", more_flops, "planted"), ("peak.hbm", keep_alive, "planted"),
            ("peak.vmem", fetch_twice, "planted"), ("sent_bytes", send_twice, "planted")]


class Advice(Folder):
    """A module that got slower, with a change that wins it back."""
    FAST = """HloModule ahead
ENTRY main {
  x = bf16[8,4096] parameter(0)
  w = bf16[4096,4096] parameter(1)
  ROOT y = bf16[8,4096] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""
    SLOW = FAST.replace("w = bf16[4096,4096] parameter(1)", "v = f32[4096,4096] parameter(1)\n"
                        "  w = bf16[4096,4096] convert(v)")

    def test_the_failure_has_the_largest_saving(self):
        self.accept(self.FAST)
        self.write("m.hlo", self.SLOW)
        run = self.gate("--advise=0", "--github", "--junit=j.xml", "--sarif=s.json", "--markdown=m.md")
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        saving = r"to win it back: saves .* keep v as bf16\[4096,4096\]"
        self.assertRegex(run.stdout, saving)
        self.assertNotIn("hint: hlosim advise", run.stdout)
        self.assertIn("to win it back", next(line for line in run.stdout.splitlines() if line.startswith("::error")
                                             and "time" in line))
        failure = xml.etree.ElementTree.parse(self.path / "j.xml").find(".//testcase[@name='time']/failure")
        self.assertRegex(failure.text, saving)
        results = json.loads(self.read("s.json"))["runs"][0]["results"]
        self.assertEqual([r["ruleId"] for r in results if "to win it back" in r["message"]["text"]], ["HLOSIM-TIME"])
        self.assertIn("to win it back", self.read("m.md"))

    def test_without_the_option_nothing_is_tried(self):
        self.accept(self.FAST)
        self.write("m.hlo", self.SLOW)
        run = self.gate("--json=j.json")
        self.assertNotIn("win it back:", run.stdout)
        self.assertIn("hint: hlosim advise m.hlo", run.stdout)
        self.assertIsNone(json.loads(self.read("j.json"))["modules"][0]["advice"])

    def test_the_configuration_asks_for_it(self):
        self.accept(self.FAST, "advise: 60s\n")
        self.write("m.hlo", self.SLOW)
        self.assertEqual(self.gate("--json=j.json").returncode, 1)
        advice = json.loads(self.read("j.json"))["modules"][0]["advice"]
        self.assertGreater(advice[0]["saved_ps"], 0)
        self.assertIn("keep v as", advice[0]["change"])

    def test_what_did_not_get_slower_has_none(self):
        self.accept(self.SLOW)
        self.assertEqual(self.gate("--advise=60s", "--json=j.json").returncode, 0)
        self.assertIsNone(json.loads(self.read("j.json"))["modules"][0]["advice"])

    def test_times_that_are_none(self):
        self.configure("advise: soon\n")
        self.write("m.hlo", self.FAST)
        run = self.gate("--update-baseline")
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertRegex(run.stderr, r"hlosim-gate.yaml:3:\d+: error: advise")
        run = self.gate("--advise=-1s")
        self.assertEqual(run.returncode, 2, run.stderr)


class Regressions(Folder):
    def test_planted_ones_are_found_with_their_instruction(self):
        self.accept(modules.layer())
        for metric, edit, culprit in planted():
            with self.subTest(metric=metric, edit=edit.__name__):
                self.write("m.hlo", modules.layer(edit))
                code, rows = self.rows()
                row = rows["v5e", metric]
                self.assertEqual((code, row["verdict"]), (1, "regressed"), row)
                self.assertIn(culprit, [c["instruction"] for c in row["instructions"]], row)
                blamed = next(c for c in row["instructions"] if c["instruction"] == culprit)
                line = self.read("m.hlo").splitlines()[blamed["line"] - 1]
                self.assertRegex(line, rf"^  {culprit} = ")
                # What was there before isn't new, even if it cost nothing.
                self.assertEqual(blamed["kind"] == "added", culprit == "planted", blamed)

    def test_improvement_passes_and_asks_for_a_baseline(self):
        self.accept(modules.layer(planted()[0][1]))
        self.write("m.hlo", modules.layer())
        run = self.gate("--github")
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertIn("improved", run.stdout)
        self.assertIn("--update-baseline keeps what was won", run.stdout)
        self.assertNotIn("::error", run.stdout)

    def test_limits_are_strict(self):
        slower = modules.layer(planted()[0][1])
        self.accept(modules.layer())
        _, rows = self.rows()
        before = rows["v5e", "time"]["after"]
        self.write("m.hlo", slower)
        _, rows = self.rows()
        increase = rows["v5e", "time"]["after"] - before
        others = "  - {metric: '.*', relative: 1000 %}\n"
        for limit, code in ((increase, 0), (increase - 1, 1)):
            self.configure(f"limits:\n  - {{metric: time, absolute: {limit} ps}}\n{others}")
            self.assertEqual(self.gate().returncode, code, limit)
        self.configure(f"limits:\n  - {{metric: time, relative: {100 * increase / before + 0.01} %}}\n{others}")
        self.assertEqual(self.gate().returncode, 0)
        self.configure(f"limits:\n  - {{metric: time, relative: {100 * increase / before - 0.01} %}}\n{others}")
        self.assertEqual(self.gate().returncode, 1)
        # Another module's limit doesn't help, and the first that fits decides.
        self.configure("limits:\n  - {module: other, metric: '.*', relative: 1000 %}\n")
        self.assertEqual(self.gate().returncode, 1)
        self.configure(f"limits:\n{others}  - {{metric: time, most: 1 ns}}\n")
        self.assertEqual(self.gate().returncode, 0)
        self.configure(f"limits:\n  - {{metric: time, most: 1 ns}}\n{others}")
        self.assertEqual(self.gate().returncode, 1)

    def test_a_share_that_is_reached_exactly_is_no_more_than_it(self):
        self.accept(modules.layer())
        whole = json.loads(self.read("hlosim-gate-baseline.json"))
        now = next(amount for name, _, amount in whole["runs"][0]["metrics"] if name == "flops")
        exact = 0
        for thousandths in range(1, 2001):
            before = now * 1000 // (1000 + thousandths)
            if before * (1000 + thousandths) != now * 1000:
                continue
            exact += 1
            for text, amount, code in ((f"{thousandths / 10:g} %", before, 0), (f"{thousandths / 1000:g}", before, 0),
                                       (f"{thousandths / 10:g} %", before - 1, 1)):
                run = whole["runs"][0]
                run.update(structure="", module_fingerprint="another", instructions=[],
                           metrics=[["flops", "count", amount]])
                self.write("hlosim-gate-baseline.json", json.dumps(whole))
                self.configure(f"metrics: [flops]\nlimits: [{{metric: flops, relative: {text}}}]\n")
                self.assertEqual(self.gate().returncode, code, (text, amount, now))
        self.assertGreater(exact, 5)

    def test_what_of_the_configuration_has_no_part_is_said(self):
        self.accept(modules.layer())
        self.configure("metrics: [time, peak.cmem]\nlimits:\n  - {module: nobody, metric: time, relative: 1 %}\n"
                       "  - {metric: time, relative: 1 %}\n  - {device: v5e, metric: time, relative: 2 %}\n")
        run = self.gate()
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertEqual(re.findall(r"(?m)^hlosim-gate.yaml:(\d+):\d+: warning: (.*)$", run.stderr),
                         [("3", "no module has such a metric on these devices"), ("5", "no number is held to this limit"),
                          ("7", "no number is held to this limit")])

    def test_files_are_there_once(self):
        self.accept(modules.layer())
        (self.path / "sub").mkdir()
        self.write("sub/n.hlo", modules.layer())
        self.write("hlosim-gate.yaml", f"modules: ['./m.hlo', '**/*.hlo', '{self.path}/m.hlo', 'sub/../m.hlo']\ndevices: [v5e]\n")
        run = self.gate("--json=-")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual({m["file"]: m["verdict"] for m in json.loads(run.stdout)["modules"]},
                         {"m.hlo": "passed", "sub/n.hlo": "new"})
        folder = self.path / "job[1]*"
        folder.mkdir()
        (folder / "m.hlo").write_text(modules.layer(), encoding="utf-8")
        (folder / "g.yaml").write_text("modules: ['*.hlo']\ndevices: [v5e]\n", encoding="utf-8")
        self.assertEqual(self.gate("--config=job[1]*/g.yaml").returncode, 0)

    def test_above_a_link_is_where_it_leads_to(self):
        (self.path / "other/deep").mkdir(parents=True)
        self.write("other/x.hlo", modules.layer())
        self.write("x.hlo", "HloModule wrong\n")
        (self.path / "link").symlink_to("other/deep")
        self.write("hlosim-gate.yaml", "modules: [link/../x.hlo, other/x.hlo]\ndevices: [v5e]\n")
        run = self.gate("--update-baseline")
        self.assertEqual(run.returncode, 0, run.stderr)
        run = self.gate("--json=-")
        self.assertEqual({m["file"]: m["verdict"] for m in json.loads(run.stdout)["modules"]},
                         {"link/../x.hlo": "passed", "other/x.hlo": "passed"}, run.stderr)

    def test_a_file_is_looked_at_once(self):
        self.configure()
        os.mkfifo(self.path / "m.hlo")
        text = modules.layer() + "// -----\n" + modules.layer()
        writer = threading.Thread(target=self.write, args=("m.hlo", text), daemon=True)
        writer.start()
        run = subprocess.run([PROGRAM, "gate", "--json=-"], capture_output=True, text=True, cwd=self.path, timeout=60, check=False)
        writer.join(10)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(len(json.loads(run.stdout)["modules"]), 2)

    def test_new_and_gone_modules(self):
        self.accept(modules.layer())
        self.write("n.hlo", modules.layer())
        for policy, code in (("pass", 0), ("warn", 0), ("fail", 1)):
            run = self.gate(f"--on-new={policy}")
            self.assertEqual(run.returncode, code)
            self.assertIn("new             n.hlo:layer on v5e", run.stdout)
        (self.path / "m.hlo").unlink()
        # Nobody notices a module that is deleted or renamed unless the gate says so.
        for policy, code, level in (("", 1, "error"), ("fail", 1, "error"), ("warn", 0, "warning"), ("pass", 0, None)):
            run = self.gate("--github", "--sarif=s.sarif", "--junit=j.xml", "--markdown=m.md",
                            *([f"--on-gone={policy}"] if policy else []))
            self.assertEqual(run.returncode, code, run.stdout)
            self.assertIn("gone            m.hlo:layer on v5e", run.stdout)
            self.assertIn("- Gone: m.hlo:layer on v5e", self.read("m.md"))
            results = [r for r in json.loads(self.read("s.sarif"))["runs"][0]["results"] if "GONE" in r["ruleId"]]
            self.assertEqual([r["level"] for r in results], [level] if level else [])
            self.assertEqual([line.split(" ")[0] for line in run.stdout.splitlines() if "Gone" in line and "::" in line],
                             [f"::{level}"] if level else [])
            cases = [c for c in xml.etree.ElementTree.fromstring(self.read("j.xml")).iter("testcase")
                     if c.get("name") == "gone"]
            self.assertEqual([c[0].tag for c in cases],
                             {"error": ["failure"], "warning": ["skipped"], None: []}[level])
        self.assertIn("n.hlo:layer on v5e: the baseline has the same program as m.hlo:layer\n", run.stdout)
        self.configure("on_gone: warn\n")
        self.assertEqual(self.gate().returncode, 0)

    def test_two_configurations_of_one_folder_have_a_baseline_each(self):
        self.write("m.hlo", modules.layer())
        for name, device in (("a", "v5e"), ("b", "v4")):
            self.write(f"{name}.yaml", f"modules: ['*.hlo']\ndevices: [{device}]\n")
            self.assertEqual(self.gate(f"--config={name}.yaml", "--update-baseline").returncode, 0)
        for name in "ab":
            self.assertTrue((self.path / f"{name}-baseline.json").exists())
            self.assertEqual(self.gate(f"--config={name}.yaml").returncode, 0)
        # The name of before is not taken silently for another's, nor passed over in silence.
        (self.path / "a-baseline.json").rename(self.path / "hlosim-baseline.json")
        self.assertIn("there is no a-baseline.json, but hlosim-baseline.json", self.gate("--config=a.yaml").stderr)
        self.write("a.yaml", self.read("a.yaml") + "baseline: hlosim-baseline.json\n")
        run = self.gate("--config=a.yaml")
        self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_what_lowering_made_points_to_the_text_of_the_user(self):
        lines = ["// a comment", "HloModule plain", "", "ENTRY main {", "  p = f32[1024,1024] parameter(0)",
                 "  q = f32[1024,1024] parameter(1)", "  s = f32[1024,1024] add(p, q)",
                 "  d = f32[1024,1024] dot(s, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
                 "  e = f32[1024,1024] exponential(d)", "  ROOT r = f32[1024,1024] transpose(e), dimensions={1,0}", "}"]
        self.accept("\n".join(lines))
        self.write("m.hlo", "\n".join(line.replace("1024,1024", "2048,2048") for line in lines))
        run = self.gate("--github", "--sarif=s.sarif")
        self.assertEqual(run.returncode, 1)
        placed = [int(re.search(r"line=(\d+)", line)[1]) for line in run.stdout.splitlines() if line.startswith("::")]
        placed += [place["physicalLocation"]["region"]["startLine"]
                   for result in json.loads(self.read("s.sarif"))["runs"][0]["results"] for place in result["locations"]]
        self.assertGreater(len(placed), 4)
        for line in placed:  # instructions, not the module's title
            self.assertRegex(lines[line - 1], r"^  (ROOT )?\w+ = ")

    def test_names_are_only_names_where_markdown_and_terminals_read_them(self):
        name = "@team <b>|\u202eevil"
        self.configure()
        self.write(f"{name}.hlo", modules.layer())
        self.assertEqual(self.gate("--update-baseline").returncode, 0)
        self.write(f"{name}.hlo", modules.layer(planted()[0][1]))
        run = self.gate("--markdown=m.md")
        self.assertEqual(run.returncode, 1)
        text = self.read("m.md")
        self.assertIn("&#64;team &lt;b&gt;\\|\\\\u202eevil.hlo", text)
        for bad in ("@team", "<b>", "\u202e"):
            self.assertNotIn(bad, text)
        self.assertNotIn("\u202e", run.stdout + run.stderr)
        self.assertIn("\\u202eevil", run.stdout)

    def test_another_device_model_or_option_is_no_regression(self):
        device = "extends: v5e.yaml\nname: mine\nsource: 'guess: a test'\nmemory: {hbm: {bandwidth: %s}}\n"
        self.write("mine.yaml", device % "800 GB/s")
        self.write("m.hlo", modules.layer())
        self.configure(devices="[mine.yaml]")
        self.assertEqual(self.gate("--update-baseline").returncode, 0)
        baseline = self.read("hlosim-gate-baseline.json")
        self.write("mine.yaml", device % "100 GB/s")
        self.expect_not_comparable("the device changed")
        self.write("mine.yaml", device % "800 GB/s")
        self.assertEqual(self.gate().returncode, 0)
        self.configure("while_trip_count: 7\n", devices="[mine.yaml]")
        self.expect_not_comparable("the options changed")
        self.configure(devices="[mine.yaml]")
        self.write("hlosim-gate-baseline.json", re.sub(r'"model_version": \d+', '"model_version": 0', baseline))
        self.expect_not_comparable("version 0 of the model")

    def expect_not_comparable(self, reason):
        run = self.gate()
        self.assertEqual(run.returncode, 2, run.stdout)
        self.assertIn("not comparable", run.stdout)
        self.assertIn(reason, run.stdout)
        self.assertNotIn("regressed", run.stdout)
        self.assertEqual(self.gate("--on-incomparable=warn").returncode, 0)


class EditsWithoutMeaning(Folder):
    def test_no_false_alarm(self):
        edits = 0
        for seed in range(20):
            rng = random.Random(1000 + seed)
            module = modules.random_module(seed, tiled=seed % 2 == 0)
            self.accept(module.text())
            for _ in range(10):
                text = modules.without_meaning(module, rng)
                self.write("m.hlo", text)
                run = self.gate("--on-new=fail")
                edits += 1
                self.assertEqual(run.returncode, 0, f"seed {seed}\n{run.stdout}{run.stderr}\n{text}")
                self.assertRegex(run.stdout, r"^passed: 1 run, \d+ numbers: \d+ passed\n$")
        self.assertGreaterEqual(edits, 200)

    def test_edits_with_meaning_are_no_such_thing(self):
        changed = 0
        for seed in range(20):
            module = modules.random_module(seed, tiled=True)
            self.accept(module.text())
            self.write("m.hlo", modules.with_meaning(module, random.Random(seed)).text())
            run = self.gate("--json=-")
            verdicts = {r["verdict"] for r in json.loads(run.stdout)["modules"][0]["metrics"]}
            changed += verdicts != {"passed"}
        self.assertGreaterEqual(changed, 15)


class Diffs(Folder):
    def diff(self, *arguments):
        run = hlosim("diff", *arguments, "--format=json", cwd=self.path)
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)

    def expect_sums(self, diff):
        for metric in diff["metrics"]:
            total = sum(row["change"].get(metric["metric"], 0) for row in diff["instructions"])
            self.assertEqual(total + metric["rest"], metric["after"] - metric["before"], metric)

    def test_contributions_add_up(self):
        for seed in range(25):
            rng = random.Random(seed)
            tiled = seed % 2 == 0
            old = modules.random_module(seed, tiled)
            new = modules.with_meaning(modules.reordered(old, rng), rng) if seed % 5 else modules.random_module(seed + 500, tiled)
            self.write("old.hlo", old.text())
            self.write("new.hlo", new.text())
            diff = self.diff("old.hlo", "new.hlo", "--device=v4")
            self.expect_sums(diff)
            time = diff["metrics"][0]
            self.assertEqual((time["metric"], time["rest"]), ("time_ps", 0))
            for name, key in (("old", "before"), ("new", "after")):
                run = hlosim("report", f"{name}.hlo", "--device=v4", "--format=json", f"--output={name}.json", cwd=self.path)
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertEqual(json.loads(self.read(f"{name}.json"))["time"]["total_ps"], time[key])
            saved = self.diff("old.json", "new.json")
            self.expect_sums(saved)
            self.assertEqual([(m["metric"], m["before"], m["after"]) for m in saved["metrics"]],
                             [(m["metric"], m["before"], m["after"]) for m in diff["metrics"]])

    def test_matches(self):
        self.write("old.hlo", modules.layer())
        self.write("new.hlo", modules.layer(lambda lines: [re.sub(r"\bsecond\b", "other", line) for line in planted()[0][1](lines)]))
        rows = self.diff("old.hlo", "new.hlo", "--device=v5e")["instructions"]
        renamed = [r for r in rows if r["renamed"]]
        self.assertEqual([(r["before"]["name"], r["after"]["name"]) for r in renamed], [("second", "other")])
        self.assertEqual([r["after"]["name"] for r in rows if r["before"] is None], ["planted"])
        self.assertEqual([r["before"]["name"] for r in rows if r["after"] is None], [])

    def test_waiting_is_explained(self):
        self.write("old.hlo", modules.layer())
        self.write("new.hlo", modules.layer(planted()[1][1]))
        diff = self.diff("old.hlo", "new.hlo", "--device=v5e")
        self.expect_sums(diff)
        done = next(r for r in diff["instructions"] if r["after"] and r["after"]["name"] == "fetched")
        self.assertTrue(done["moved"])
        self.assertGreater(done["change"]["exposed_copies_ps"], 0)
        text = hlosim("diff", "old.hlo", "new.hlo", "--device=v5e", cwd=self.path).stdout
        self.assertRegex(text, r"moved +fetched +.*exposed_copies \+")

    def test_wrong_input(self):
        self.write("old.hlo", modules.layer())
        self.write("cut.json", '{"schema_version": 1, "instructions": [')
        self.write("future.json", '{"schema_version": 99, "instructions": []}')
        for name, message in (("cut.json", "cut.json:1:40: error: the JSON text ends too early"),
                              ("future.json", "future.json:1:20: error: a report of schema version 99"),
                              ("none.json", "cannot read 'none.json'")):
            run = hlosim("diff", "old.hlo", name, "--device=v5e", cwd=self.path)
            self.assertEqual(run.returncode, 2)
            self.assertIn(message, run.stderr)


class Outputs(Folder):
    def failing(self):
        self.accept(modules.layer())
        self.write("m.hlo", modules.layer(planted()[0][1]))
        self.write("n.hlo", "HloModule wrong\n")

    def test_junit(self):
        self.failing()
        self.assertEqual(self.gate("--junit=j.xml").returncode, 2)
        suites = xml.etree.ElementTree.fromstring(self.read("j.xml"))
        self.assertEqual(suites.tag, "testsuites")
        for suite in suites:
            self.assertEqual(suite.tag, "testsuite")
            self.assertTrue({"name", "tests", "failures", "errors"} <= set(suite.attrib))
            self.assertTrue(set(suite.attrib) <= {"name", "tests", "failures", "errors", "skipped", "time"})
            cases = list(suite)
            self.assertEqual(int(suite.get("tests")), len(cases))
            for tag, attribute in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
                self.assertEqual(int(suite.get(attribute)), sum(case.find(tag) is not None for case in cases))
            for case in cases:
                self.assertEqual((case.tag, set(case.attrib)), ("testcase", {"classname", "name", "time"}))
                float(case.get("time"))
                self.assertLessEqual(len(case), 1)
                for child in case:
                    self.assertIn(child.tag, ("failure", "error", "skipped"))
                    self.assertTrue(child.get("message"))
        names = [suite.get("name") for suite in suites]
        self.assertEqual(names, ["v5e", "input"])
        self.assertEqual(int(suites.get("failures")), sum(int(s.get("failures")) for s in suites))
        failure = next(c for s in suites for c in s if c.get("name") == "time").find("failure")
        self.assertIn("planted", failure.text)

    def test_sarif(self):
        self.failing()
        self.gate("--sarif=s.sarif")
        sarif = json.loads(self.read("s.sarif"))
        self.assertEqual((sarif["version"], len(sarif["runs"])), ("2.1.0", 1))
        self.assertTrue(set(sarif) <= {"$schema", "version", "runs"})
        run = sarif["runs"][0]
        self.assertTrue(set(run) <= {"tool", "invocations", "results"})
        driver = run["tool"]["driver"]
        self.assertEqual(driver["name"], "hlosim")
        rules = [rule["id"] for rule in driver["rules"]]
        self.assertEqual(len(rules), len(set(rules)))
        self.assertTrue(all(rule["shortDescription"]["text"] for rule in driver["rules"]))
        self.assertIs(run["invocations"][0]["executionSuccessful"], False)
        self.assertTrue(run["results"])
        for result in run["results"]:
            self.assertEqual(rules[result["ruleIndex"]], result["ruleId"])
            self.assertIn(result["level"], ("none", "note", "warning", "error"))
            self.assertTrue(result["message"]["text"])
            for location in result["locations"] + result.get("relatedLocations", []):
                place = location["physicalLocation"]
                self.assertRegex(place["artifactLocation"]["uri"], r"^[A-Za-z0-9._~/%-]+$")
                self.assertGreaterEqual(place["region"]["startLine"], 1)
            for index, location in enumerate(result.get("relatedLocations", [])):
                self.assertEqual(location["id"], index + 1)
        line = 1 + self.read("m.hlo").splitlines().index(next(l for l in self.read("m.hlo").splitlines() if "planted =" in l))
        time = next(r for r in run["results"] if r["ruleId"] == "HLOSIM-TIME")
        self.assertEqual(time["locations"][0]["physicalLocation"]["region"]["startLine"], line)

    def test_lines_are_those_of_the_file_whatever_it_is(self):
        small = [f"HloModule plain", "", "ENTRY main {", "  p = f32[1024,1024] parameter(0)", "  q = f32[1024,1024] parameter(1)",
                 "  d = f32[1024,1024] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
                 "  ROOT r = f32[1024,1024] exponential(d)", "}", ""]
        text = "\n".join(small)
        other = text.replace("plain", "other")
        mlir = self.printed(text, "stablehlo")
        forms = {
            "lf.hlo": (text, "", ("dot", "exponential")),
            "crlf.hlo": (text.replace("\n", "\r\n"), "", ("dot", "exponential")),
            "bom.hlo": ("\ufeff" + text, "", ("dot", "exponential")),
            "tabs.hlo": ("\n\n" + text.replace("  ", "\t"), "", ("dot", "exponential")),
            "second.hlo": (other + "// -----\n" + text, "", ("dot", "exponential")),
            "cut.log": ("a log\nline\n" + text + "and so on\n", "partial: true\n", ("dot", "exponential")),
            "spread.hlo": (text, 'mesh: "data=2; .*=[data,_]"\n', ("dot", "exponential")),
            "plain.hlo": (text, "lower: false\n", ("dot", "exponential")),
            "m.mlir": (mlir, "", ("dot", "exponential")),
        }
        for name, (before, extra, opcodes) in forms.items():
            with self.subTest(name=name):
                after = before.replace("1024", "2048")
                found = self.annotated(name, before.encode(), after.encode(), extra)
                self.assertTrue(found)
                for line in found:
                    self.assertTrue(any(opcode in after.splitlines()[line - 1] for opcode in opcodes), (line, after))
        packed = self.annotated("m.hlo.gz", gzip.compress(text.encode()), gzip.compress(text.replace("1024", "2048").encode()))
        self.assertTrue(set(packed) <= {6, 7}, packed)
        # There are no lines in a binary file.
        protos = [self.printed(one, "pb") for one in (text, text.replace("1024", "2048"))]
        for name, (before, after) in {"m.pb": protos, "m.pb.gz": [gzip.compress(one) for one in protos]}.items():
            self.assertEqual(set(self.annotated(name, before, after)), {None})
            self.assertNotIn("line", self.gate().stdout)

    def printed(self, text, form):
        run = subprocess.run([PROGRAM, "print", "-", f"--format={form}"], input=text.encode(), capture_output=True, check=True)
        return run.stdout if form == "pb" else run.stdout.decode()

    def annotated(self, name, before, after, extra=""):
        """Lines of GitHub's annotations, which are SARIF's too; None: they have none."""
        for old in self.path.glob("*"):
            old.unlink()
        self.write("hlosim-gate.yaml", f"modules: ['{name}']\ndevices: [v5e]\nmetrics: [time, hbm_bytes, flops]\n{extra}")
        (self.path / name).write_bytes(before)
        self.assertEqual(self.gate("--update-baseline").returncode, 0)
        (self.path / name).write_bytes(after)
        run = self.gate("--github", "--sarif=s.sarif")
        self.assertEqual(run.returncode, 1, run.stderr)
        lines = [re.match(r"::error file=[^,]*(?:,line=(\d+))?,title=", line)[1] for line in run.stdout.splitlines() if line.startswith("::")]
        lines = [line and int(line) for line in lines]
        results = json.loads(self.read("s.sarif"))["runs"][0]["results"]
        places = [result["locations"][0]["physicalLocation"] for result in results]
        self.assertEqual([place.get("region", {}).get("startLine") for place in places], lines)
        return lines

    def test_paths_are_those_of_the_repository(self):
        (self.path / "ci").mkdir()
        self.write("ci/m.hlo", modules.layer())
        self.write("ci/hlosim-gate.yaml", "modules: [m.hlo]\ndevices: [v5e]\n")
        for workspace, path in ((self.path, "ci/m.hlo"), (self.path / "ci", "m.hlo"), ("/nowhere", "m.hlo"), ("", "m.hlo")):
            run = hlosim("gate", "--github", "--sarif=s.sarif", "--on-new=fail", cwd=self.path / "ci",
                         env={"GITHUB_WORKSPACE": str(workspace)})
            self.assertIn(f"::error file={path},line=1,", run.stdout)
            result = json.loads(self.read("ci/s.sarif"))["runs"][0]["results"][0]
            self.assertEqual(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], path)

    def test_absolute_paths_are_those_of_the_repository_too(self):
        (self.path / "a").mkdir()
        (self.path / "job").mkdir()
        (self.path / "repository").symlink_to(self.path)
        self.write("a/x.hlo", modules.layer())
        self.write("a/wrong.hlo", "HloModule wrong\n")
        for root in (self.path, self.path / "repository"):
            self.write("g.yaml", f"modules: [{self.path}/a/x.hlo, {root}/a/../a/wrong.hlo]\ndevices: [v5e]\n")
            for cwd in (self.path, self.path / "job", "/"):
                run = hlosim("gate", f"--config={self.path}/g.yaml", "--github", "--on-new=fail", f"--sarif={self.path}/s.sarif",
                             cwd=cwd, env={"GITHUB_WORKSPACE": str(root)})
                self.assertEqual(sorted(set(re.findall(r"(?m)^::error file=([^,]*),", run.stdout))),
                                 ["a/wrong.hlo", "a/x.hlo"], run.stdout)
                uris = re.findall(r'"uri": "([^"]*)"', self.read("s.sarif"))
                self.assertEqual(sorted(set(uris)), ["a/wrong.hlo", "a/x.hlo"])

    def test_names_are_only_names(self):
        for name in (b"a\n::error::b", b"a\xff\xfe", "a\ufffeb".encode(), "a\u202eb\u200bc".encode(), b"a\x1b[31mb", b"<b>|`@x`&amp;"):
            with self.subTest(name=name):
                for old in self.path.glob("*"):
                    old.unlink()
                self.configure()
                file = os.fsencode(self.path) + b"/" + name + b".hlo"
                with open(file, "w", encoding="utf-8") as out:
                    out.write(modules.layer())
                self.assertEqual(self.gate("--update-baseline").returncode, 0)
                self.assertEqual(self.gate().returncode, 0)
                with open(file, "w", encoding="utf-8") as out:
                    out.write(modules.layer(planted()[0][1]))
                run = subprocess.run([PROGRAM, "gate", "--github", "--junit=j.xml", "--markdown=m.md", "--json=j.json"],
                                     capture_output=True, cwd=self.path, check=False)
                self.assertEqual(run.returncode, 1, run.stderr)
                for text in (run.stdout, (self.path / "m.md").read_bytes()):
                    self.assertFalse(set(text.decode()) & set("\u202e\u200b\ufffe\x1b\r"), text)
                self.assertTrue(all(line.startswith(b"::error file=a") or line.startswith(b"::error file=<")
                                    for line in run.stdout.splitlines() if line.startswith(b"::")), run.stdout)
                cases = xml.etree.ElementTree.parse(self.path / "j.xml").getroot().iter("testcase")
                self.assertTrue(all(case.get("classname").endswith(".hlo:layer") for case in cases))
                json.loads(self.read("j.json"))

    def test_source_of_the_model(self):
        self.accept(modules.layer())
        self.write("m.hlo", modules.layer(lambda lines: lines[:-1] + [lines[-1].replace(
            f"out = f32[512,512]{modules.TILED}", "out = f32[512,512]{1,0:T(8,1024)}")]))
        self.gate("--sarif=s.sarif")
        results = json.loads(self.read("s.sarif"))["runs"][0]["results"]
        related = [l["physicalLocation"] for r in results for l in r.get("relatedLocations", [])]
        self.assertIn({"artifactLocation": {"uri": "model/layers.py"}, "region": {"startLine": 42}}, related)

    def test_github(self):
        self.failing()
        self.write("summary.md", "before\n")
        run = self.gate("--github", env={"GITHUB_STEP_SUMMARY": str(self.path / "summary.md")})
        annotations = [line for line in run.stdout.splitlines() if line.startswith("::")]
        self.assertTrue(annotations)
        for line in annotations:
            self.assertRegex(line, r"^::(error|warning) file=[mn]\.hlo,line=[1-9]\d*,title=[^:,]+(%3A|%2C|[^:,])*::.+$")
        self.assertTrue(any("planted" in line for line in annotations))
        summary = self.read("summary.md")
        self.assertTrue(summary.startswith("before\n### hlosim gate failed"))
        self.assertIn("| m.hlo:layer | v5e | time |", summary)
        self.assertIn("`planted`", summary)

    def test_modules_of_one_name_are_told_apart(self):
        self.accept(modules.layer() + "// -----\n" + modules.layer(planted()[0][1]))
        self.assertEqual(self.gate("--bencher-json=c.json", "--benchmark-json=b.json", "--junit=j.xml").returncode, 0)
        times = [one["latency"]["value"] for one in json.loads(self.read("c.json")).values()]
        self.assertEqual(len(set(times)), 2)
        names = [row["name"] for row in json.loads(self.read("b.json"))]
        self.assertEqual(len(set(names)), len(names))
        cases = [(c.get("classname"), c.get("name")) for c in xml.etree.ElementTree.parse(self.path / "j.xml").iter("testcase")]
        self.assertEqual(len(set(cases)), len(cases))
        self.write("m.hlo", modules.layer())
        self.assertIn("gone            m.hlo:layer (2) on v5e", self.gate().stdout)

    def test_what_trackers_read(self):
        self.accept(modules.layer())
        self.assertEqual(self.gate("--benchmark-json=b.json", "--bencher-json=c.json").returncode, 0)
        rows = json.loads(self.read("b.json"))
        self.assertTrue(all(set(r) == {"name", "unit", "value", "extra"} and r["value"] >= 0 for r in rows))
        self.assertEqual(len({r["name"] for r in rows}), len(rows))
        bencher = json.loads(self.read("c.json"))
        measures = bencher["m.hlo:layer on v5e"]
        self.assertAlmostEqual(measures["latency"]["value"] * 1000, next(r["value"] for r in rows if r["name"].endswith("/ time")))
        for name, measure in measures.items():
            self.assertRegex(name, r"^[a-z0-9-]{1,64}$")
            self.assertEqual(set(measure), {"value"})


class WrongInput(Folder):
    def test_configuration(self):
        for text, message in (
                ("modules: [m.hlo]\ndevices: [v5e]\nlimit: []\n", 'hlosim-gate.yaml:3:1: error: unknown key "limit"'),
                ("modules: [m.hlo\n", "hlosim-gate.yaml:"),
                ("devices: [v5e]\n", '"modules" is missing'),
                ("modules: [m.hlo]\ndevices: [v99]\n", "v99"),
                ("modules: [m.hlo]\ndevices: [v4, v4]\n", "hlosim-gate.yaml:2:15: error: device 'v4' is there twice"),
                ("modules: [m.hlo]\ndevices: [v5e]\nlimits: [{metric: tme}]\n", 'hlosim-gate.yaml:3:19: error: no metric is called'),
                ("modules: [m.hlo]\ndevices: [v5e]\nlimits: [{metric: time, absolute: 1 MiB}]\n", "a limit in bytes on time"),
                ("modules: [m.hlo]\ndevices: [v5e]\nlimits: [{metric: time, relative: much}]\n", "hlosim-gate.yaml:3:35: error: relative"),
                ("modules: [m.hlo]\ndevices: [v5e]\nmetrics: ['(']\n", "is not a regular expression"),
                ("modules: [m.hlo]\ndevices: [v5e]\non_new: maybe\n", "none of pass, warn, fail"),
                ("modules: [*.hlo]\ndevices: [v5e]\n", "text that begins with * needs quotes"),
                ("modules: [m.hlo]\ndevices: [v5e, v99]\nset: [clock=1 GHz]\n",
                 "hlosim-gate.yaml:2:16: error: device 'v99' can't be used\n"),
                ("modules: [m.hlo]\ndevices: [v5e]\nset: [clock=1 GHz, clok=1 GHz]\n",
                 "hlosim-gate.yaml:3:20: error: device 'v5e' can't be used with this\n"),
                ("modules: [m.hlo]\ndevices: [v5e]\ntopology: 3xx\n", "hlosim-gate.yaml:3:11: error: device 'v5e' can't"),
                ("modules: [m.hlo]\ndevices: [v5e]\ncustom_call_costs: none.yaml\n",
                 "hlosim-gate.yaml:3:20: error: device 'v5e' can't"),
                ("modules: [none*.hlo]\ndevices: [v5e]\n", "hlosim-gate.yaml:1:11: error: no file fits")):
            self.write("m.hlo", modules.layer())
            self.write("hlosim-gate.yaml", text)
            run = self.gate("--update-baseline")
            self.assertEqual(run.returncode, 2, text)
            self.assertIn(message, run.stderr)
            self.assertEqual(sorted(p.name for p in self.path.iterdir()), ["hlosim-gate.yaml", "m.hlo"])

    def test_baseline(self):
        self.accept(modules.layer())
        whole = self.read("hlosim-gate-baseline.json")
        for text, message in ((whole[:len(whole) // 2], "error: the JSON text ends too early"),
                              (whole.replace('"schema_version": 1', '"schema_version": 7'), "a baseline of schema version 7"),
                              ("{}", "hlosim-gate-baseline.json:1:1: error: no baseline"),
                              ("[1, 2", "ends too early"),
                              (whole.replace('"number": 0', '"number": "x"'), '"number" is text'),
                              (re.sub(r'(\["time", *"ps", *)', r'\1-', whole), "expected a whole number from 0 on"),
                              (whole.replace('"metrics": [', '"metrics": [\n        ["time", "apples", 1],'), "no unit"),
                              (whole.replace('"ps"', '7', 1), "error: this is a number, expected text")):
            self.write("hlosim-gate-baseline.json", text)
            run = self.gate()
            self.assertEqual(run.returncode, 2, run.stdout)
            self.assertIn(message, run.stderr)
            self.assertRegex(run.stderr, r"^hlosim-gate-baseline\.json:\d+:\d+: error: ")
            self.assertEqual(self.read("hlosim-gate-baseline.json"), text)
        self.assertEqual(self.gate("--update-baseline").returncode, 0)
        self.assertEqual(self.read("hlosim-gate-baseline.json"), whole)

    def test_a_baseline_that_is_named_has_to_be_there(self):
        self.accept(modules.layer())
        (self.path / "link.json").symlink_to("nowhere.json")
        (self.path / "circle.json").symlink_to("circle.json")
        (self.path / "folder.json").mkdir()
        for name, message in (("typo.json", "there is no baseline 'typo.json'"), ("m.hlo/x.json", "there is no baseline"),
                              ("link.json", "there is no baseline 'link.json'"), ("circle.json", "cannot read 'circle.json'"),
                              ("folder.json", "cannot read 'folder.json'"), ("n" * 300, "cannot read 'nnn")):
            for extra, option in (("", f"--baseline={name}"), (f"baseline: {name}\n", "-q")):
                self.configure(extra)
                run = self.gate(option)
                self.assertEqual((run.returncode, run.stdout), (2, ""), name)
                self.assertIn(message, run.stderr)
        self.configure()
        # A link stays one, and makes what it points to.
        self.assertEqual(self.gate("--baseline=link.json", "--update-baseline").returncode, 0)
        self.assertTrue((self.path / "link.json").is_symlink() and (self.path / "nowhere.json").is_file())
        self.assertEqual(self.gate("--baseline=link.json").returncode, 0)
        with open(self.path / "nowhere.json", encoding="utf-8") as text:
            run = subprocess.run([PROGRAM, "gate", "--baseline=-"], stdin=text, capture_output=True, cwd=self.path, check=False)
        self.assertEqual((run.returncode, run.stderr), (0, b""))

    def test_no_file_is_written_twice(self):
        self.accept(modules.layer())
        before = self.read("hlosim-gate-baseline.json")
        for options in (("--json=o", "--junit=./o"), ("--json=-", "--sarif=-"), ("--json=hlosim-gate-baseline.json",),
                        ("--markdown=hlosim-gate.yaml",), ("--update-baseline", "--json=hlosim-gate-baseline.json")):
            run = self.gate(*options)
            self.assertEqual((run.returncode, run.stdout), (2, ""), options)
            self.assertRegex(run.stderr, "is the same file as that of|would overwrite the input")
        self.assertEqual(self.read("hlosim-gate-baseline.json"), before)
        self.assertEqual(self.gate("--json=/dev/null", "--junit=/dev/null").returncode, 0)
        self.assertEqual(self.gate("--json=o", "--junit=p").returncode, 0)
        (self.path / "o").unlink()

    def test_nothing_that_is_read_is_written(self):
        self.accept(modules.layer())
        (self.path / "l").symlink_to("o")
        (self.path / "folder").symlink_to(".")
        (self.path / "n.hlo").symlink_to("m.hlo")
        for options, what in ((("--json=o", "--junit=l"), "--json: 'o' is the same file as that of --junit"),
                              (("--json=l", "--junit=folder/o"), "--json: 'l' is the same file as that of --junit"),
                              (("--json=m.hlo",), "--json: 'm.hlo' would overwrite the input 'm.hlo'"),
                              (("--sarif=folder/m.hlo",), "--sarif: 'folder/m.hlo' would overwrite the input 'm.hlo'"),
                              (("--markdown=n.hlo",), "--markdown: 'n.hlo' would overwrite the input 'm.hlo'"),
                              (("--baseline=m.hlo", "--update-baseline"), "the baseline: 'm.hlo' would overwrite the input 'm.hlo'"),
                              (("--json=folder/hlosim-gate-baseline.json",),
                               "--json: 'folder/hlosim-gate-baseline.json' would overwrite the input 'hlosim-gate-baseline.json'")):
            run = self.gate(*options)
            self.assertEqual((run.returncode, run.stdout), (2, ""), options)
            self.assertIn(what, run.stderr)
        self.assertEqual(self.read("m.hlo"), modules.layer())
        self.assertFalse((self.path / "o").exists())

    def test_what_is_read_beside_modules_is_not_written(self):
        self.write("m.hlo", modules.layer())
        shutil.copy(SOURCE / "configs/v5e.yaml", self.path / "d.yaml")
        self.write("flags.txt", "--xla_tpu_enable_latency_hiding_scheduler=true\n")
        self.configure("xla_flags: ['@flags.txt']\n", devices="[d.yaml]")
        self.assertEqual(self.gate().returncode, 0)
        for name in ("d.yaml", "flags.txt"):
            before = self.read(name)
            run = self.gate(f"--json={name}")
            self.assertEqual(run.returncode, 2)
            self.assertIn(f"--json: '{name}' would overwrite the input '{name}'", run.stderr)
            self.assertEqual(self.read(name), before)

    def test_what_cannot_be_read_is_shown_where_it_is_wrong_and_is_not_gone(self):
        self.accept(modules.layer())
        lines = modules.layer().splitlines()
        wrong = next(n for n, line in enumerate(lines) if " tanh(first)" in line)
        lines[wrong] = lines[wrong].replace("tanh(first)", "tanh(nobody)")
        self.write("m.hlo", "\r\n".join(lines))
        run = self.gate("--github", "--sarif=s.sarif", "--json=j.json", "--junit=j.xml")
        self.assertEqual(run.returncode, 2)
        self.assertIn(f"::error file=m.hlo,line={wrong + 1},title=Wrong input::", run.stdout)
        self.assertNotIn("gone", run.stdout)
        error = json.loads(self.read("j.json"))["errors"][0]
        self.assertEqual((error["line"], error["file"]), (wrong + 1, "m.hlo"))
        self.assertIn("nobody", error["message"])
        told = json.loads(self.read("s.sarif"))["runs"][0]["invocations"][0]["toolExecutionNotifications"][0]
        self.assertEqual(told["locations"][0]["physicalLocation"]["region"]["startLine"], wrong + 1)

    def test_what_cannot_be_read_is_not_gone_whatever_the_baseline_calls_it(self):
        self.accept(modules.layer())
        whole = self.read("hlosim-gate-baseline.json")
        self.write("hlosim-gate-baseline.json", whole.replace('"m.hlo"', '"./m.hlo"'))
        self.assertEqual(self.gate().returncode, 0)
        self.write("m.hlo", "HloModule wrong\n")
        run = self.gate("--json=j.json")
        self.assertEqual(run.returncode, 2)
        told = json.loads(self.read("j.json"))
        self.assertEqual((len(told["errors"]), told["gone"]), (1, []), told)

    def test_wrong_module_leaves_the_baseline(self):
        self.accept(modules.layer())
        whole = self.read("hlosim-gate-baseline.json")
        self.write("n.hlo", "HloModule wrong\n")
        run = self.gate("--update-baseline")
        self.assertEqual(run.returncode, 2)
        self.assertEqual(self.read("hlosim-gate-baseline.json"), whole)


class Setup(Folder):
    def test_init(self):
        run = hlosim("init", cwd=self.path)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(hlosim("init", cwd=self.path).returncode, 2)
        self.write("m.hlo", modules.layer())
        self.assertEqual(self.gate("--update-baseline").returncode, 0)
        self.assertEqual(self.gate().returncode, 0)

    def test_workflow_files(self):
        try:
            import yaml
        except ImportError:
            self.skipTest("no PyYAML")
        for name in ("github-workflow.yml", "gitlab-ci.yml", "action.yml"):
            document = yaml.safe_load((SOURCE / "examples/ci" / name).read_text(encoding="utf-8"))
            self.assertIsInstance(document, dict)
            if name == "github-workflow.yml":
                self.assertIn("jobs", document)
                for job in document["jobs"].values():
                    self.assertIn("runs-on", job)
                    self.assertTrue(all("uses" in step or "run" in step for step in job["steps"]))
            if name == "action.yml":
                self.assertEqual(document["runs"]["using"], "composite")
                self.assertTrue(all("shell" in step for step in document["runs"]["steps"] if "run" in step))


if __name__ == "__main__":
    unittest.main()
