#!/usr/bin/env python3
"""A diff of saved reports says what a diff of their modules says, to the byte.

  saved_diff_test.py PROGRAM SOURCE_DIR
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import gate_modules as modules

EXAMPLES = pathlib.Path(sys.argv.pop(2)) / "examples"
PROGRAM = sys.argv.pop(1)


class SavedDiff(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.path = pathlib.Path(temporary.name)

    def hlosim(self, *arguments, code=0):
        run = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, cwd=self.path, check=False)
        self.assertEqual(run.returncode, code, run.stderr)
        return run.stderr if code else run.stdout

    def same(self, old, new, *options):
        for name, text in (("old", old), ("new", new)):
            (self.path / f"{name}.hlo").write_text(text)
            self.hlosim("report", f"{name}.hlo", *options, "--format=json", "-o", f"{name}.json")
        for form in ("text", "json", "markdown"):
            live = self.hlosim("diff", "old.hlo", "new.hlo", *options, f"--format={form}", "--top=0")
            for before, after in (("old.json", "new.json"), ("old.hlo", "new.json"), ("old.json", "new.hlo")):
                self.assertEqual(self.hlosim("diff", before, after, *options, f"--format={form}", "--top=0"), live, (before, after))
        return live

    def test_edits(self):
        def more(lines):
            lines.insert(modules.named(lines, "fourth") + 1, f"planted = f32[512,512]{modules.TILED} exponential(fourth)")
            return [line.replace("dot(fourth, fetched)", "dot(planted, fetched)") for line in lines]

        def renamed(lines):
            return [line.replace("fourth", "vierte") for line in lines]

        def padded(lines):
            return [line.replace(f"second = f32[512,512]{modules.TILED}", "second = f32[512,512]{1,0:T(8,1024)}") for line in lines]

        for edit in (more, renamed, padded, lambda lines: padded(renamed(more(lines)))):
            self.assertIn("|", self.same(modules.layer(), modules.layer(edit), "--device=v5e"))

    def test_examples(self):
        read = lambda name: (EXAMPLES / name).read_text()
        self.same(read("mlp_plain.hlo"), read("mlp.hlo"), "--device=v4")
        self.same(read("transformer_layers.hlo"), read("transformer_layers_tpu.hlo"), "--device=v6e")
        self.same(read("tower.hlo"), read("tower.hlo"), "--device=v5e")

    def test_several_modules(self):
        rename = lambda text, name: re.sub(r"HloModule \w+", f"HloModule {name}", text, count=1)
        plain, tuned = (EXAMPLES / "mlp_plain.hlo").read_text(), (EXAMPLES / "mlp.hlo").read_text()
        self.same(rename(plain, "first") + "\n" + rename(tuned, "second"), rename(plain, "second") + "\n" + rename(tuned, "first"),
                  "--device=v5e")

    def test_versions_stand_at_the_top(self):
        (self.path / "m.hlo").write_text(modules.layer())
        self.hlosim("report", "m.hlo", "--device=v5e", "--format=json", "-o", "m.json")
        report = json.loads((self.path / "m.json").read_text())
        self.assertGreaterEqual(report["tool"]["model_version"], 1)
        self.assertRegex(report["module"]["fingerprint"], r"^[0-9a-f]{16}$")
        self.assertRegex(report["device"]["fingerprint"], r"^[0-9a-f]{16}$")
        report["tool"]["model_version"] += 1
        (self.path / "other.json").write_text(json.dumps(report))
        self.assertIn("not the same model", self.hlosim("diff", "m.json", "other.json"))

    def test_what_is_wrong_is_said(self):
        (self.path / "m.hlo").write_text(modules.layer())
        self.hlosim("report", "m.hlo", "--device=v5e", "--format=json", "-o", "m.json")
        report = json.loads((self.path / "m.json").read_text())
        report["compared_instructions"][0]["amounts"].pop()
        (self.path / "wrong.json").write_text(json.dumps(report, indent=1))
        self.assertRegex(self.hlosim("diff", "m.json", "wrong.json", code=2), r"wrong\.json:\d+:\d+: error: \d+ amounts of \d+ metrics")

    def test_reports_of_earlier_versions(self):
        (self.path / "m.hlo").write_text(modules.layer())
        self.hlosim("report", "m.hlo", "--device=v5e", "--format=json", "-o", "m.json")
        report = json.loads((self.path / "m.json").read_text())
        for member in ("comparison", "compared_instructions"):
            del report[member]
        (self.path / "early.json").write_text(json.dumps(report))
        rows = {row["metric"]: row["change"] for row in json.loads(self.hlosim("diff", "early.json", "m.json", "--format=json"))["metrics"]}
        self.assertEqual(set(rows.values()), {0}, rows)


if __name__ == "__main__":
    unittest.main()
