#!/usr/bin/env python3
"""What the program says beside its results: colours, --quiet, --verbose, --print-config.

  verbosity_test.py PROGRAM SOURCE_FOLDER
"""
import json
import os
import pathlib
import pty
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv[1]
ROOT = pathlib.Path(sys.argv[2])
del sys.argv[1:3]
MLP = str(ROOT / "examples" / "mlp.hlo")
BROKEN = "HloModule m\nENTRY e { ROOT a = f32[4] parameter(0) b\n }\n"
ESCAPE = "\x1b["
PLAIN_ENVIRONMENT = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM")} | {"TERM": "xterm"}


def hlosim(*arguments, code=0, text=None, environment=None):
    run = subprocess.run([PROGRAM, *arguments], input=text, capture_output=True, text=True, check=False,
                         env=PLAIN_ENVIRONMENT | (environment or {}))
    assert run.returncode == code, (arguments, run.returncode, run.stdout[-1000:], run.stderr[-1000:])
    return run.stdout, run.stderr


def on_terminal(*arguments, environment=None):
    """What a terminal shows as output and as errors."""
    shown = []
    ends = [pty.openpty(), pty.openpty()]
    run = subprocess.Popen([PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=ends[0][1], stderr=ends[1][1],
                           env=PLAIN_ENVIRONMENT | (environment or {}))
    for reader, writer in ends:
        os.close(writer)
    for reader, _ in ends:
        text = b""
        while True:
            try:
                part = os.read(reader, 65536)
            except OSError:  # the other end is closed
                part = b""
            if not part:
                break
            text += part
        os.close(reader)
        shown.append(text.decode().replace("\r\n", "\n"))
    run.wait()
    return shown


class Verbosity(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        self.broken = self.path / "broken.hlo"
        self.broken.write_text(BROKEN)
        self.slow = self.path / "slow.hlo"
        text = pathlib.Path(MLP).read_text()
        self.slow.write_text(text)

    def tearDown(self):
        self.folder.cleanup()

    def diff(self, *arguments):
        return ["diff", str(ROOT / "examples" / "mlp.hlo"), str(self.other()), "--device=v5e", *arguments]

    def other(self):
        """Another device's copy of the same module: everything costs something else."""
        path = self.path / "report.json"
        if not path.exists():
            hlosim("report", MLP, "--device=v5e", "--set", "memory.hbm.bandwidth=100 GB/s", "--format=json", "-o", str(path))
        return path

    # ── colours ──

    def test_colours_on_a_terminal_only(self):
        out, _ = on_terminal(*self.diff())
        self.assertIn(f"{ESCAPE}31m+", out)
        self.assertNotIn(ESCAPE, hlosim(*self.diff())[0])
        _, err = on_terminal("check", str(self.broken))
        self.assertIn(f"{ESCAPE}31merror:{ESCAPE}0m", err)
        self.assertRegex(err, r"\n +\x1b\[32m\^\x1b\[0m\n")
        self.assertNotIn(ESCAPE, hlosim("check", str(self.broken), code=2)[1])

    def test_a_trace_is_not_printed_on_a_terminal(self):
        out, err = on_terminal("trace", MLP, "--device=v5e")
        self.assertEqual(out, "")
        self.assertIn("a trace is too long for a terminal", err)
        self.assertIn("-o trace.json.gz", err)
        whole, _ = hlosim("trace", MLP, "--device=v5e")
        self.assertTrue(whole.startswith("{"))
        # Who asks for it gets it.
        out, _ = on_terminal("trace", MLP, "--device=v5e", "-o", "-")
        self.assertEqual(out, whole)

    def test_colours_change_nothing_else(self):
        colours = re.compile(r"\x1b\[\d+m")
        for arguments in (self.diff(), ["report", MLP, "--device=v5e"],
                          ["report", MLP, "--device=v5e", "--set", "memory.hbm.capacity=1 KiB"]):
            painted, _ = hlosim(*arguments, "--color=always")
            self.assertIn(ESCAPE, painted)
            self.assertEqual(colours.sub("", painted), hlosim(*arguments, "--color=never")[0])
        painted = hlosim("check", str(self.broken), "--color=always", code=2)[1]
        self.assertEqual(colours.sub("", painted), hlosim("check", str(self.broken), code=2)[1])

    def test_who_decides(self):
        for environment, coloured in (({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)):
            out, _ = on_terminal(*self.diff(), environment=environment)
            self.assertEqual(ESCAPE in out, coloured, environment)
        out, _ = on_terminal(*self.diff("--color=always"), environment={"NO_COLOR": "1"})
        self.assertIn(ESCAPE, out)
        out, _ = on_terminal(*self.diff("--color=never"))
        self.assertNotIn(ESCAPE, out)

    def test_files_are_never_coloured(self):
        file = self.path / "diff.txt"
        hlosim(*self.diff("--color=always", "-o", str(file)))
        self.assertNotIn(ESCAPE, file.read_text())
        for form in ("json", "markdown"):
            self.assertNotIn(ESCAPE, hlosim(*self.diff("--color=always", f"--format={form}"))[0])

    def test_gate_verdicts(self):
        (self.path / "m.hlo").write_text(pathlib.Path(MLP).read_text())
        (self.path / "gate.yaml").write_text("modules: [m.hlo]\ndevices: [v5e]\nbaseline: base.json\n")
        config = f"--config={self.path / 'gate.yaml'}"
        self.assertIn("wrote", hlosim("gate", config, "--update-baseline")[1])
        self.assertEqual(hlosim("gate", config, "--update-baseline", "-q")[1], "")
        self.assertIn(f"{ESCAPE}32mpassed{ESCAPE}0m", hlosim("gate", config, "--color=always")[0])

    # ── how much is said ──

    def test_quiet(self):
        arguments = ["report", MLP, "--device=v5e", "--format=csv", "--set", "ici.links=2"]
        self.assertIn("warning: --set ici.links = 2 had no effect", hlosim(*arguments)[1])
        self.assertEqual(hlosim(*arguments, "-q")[1], "")
        self.assertEqual(hlosim(*arguments, "--quiet")[0], hlosim(*arguments)[0])
        self.assertIn("error:", hlosim("check", str(self.broken), "-q", code=2)[1])
        self.assertEqual(hlosim("check", MLP, "-q"), ("", ""))
        self.assertEqual(hlosim("-q", *arguments)[1], "")  # before the command as well

    def test_verbose(self):
        out, err = hlosim("report", MLP, "--device=v5e", "-v")
        self.assertEqual(out, hlosim("report", MLP, "--device=v5e")[0])
        self.assertRegex(err, r"(?m)^hlosim: version \d[\d.]*, model \d+, kernels of level v\d; report$")
        self.assertRegex(err, r"(?m)^hlosim: device v5e: TPU v5e, v5e.yaml \(built-in\), fingerprint [0-9a-f]+ \([\d.,]+ \w+\)$")
        self.assertRegex(err, rf"(?m)^hlosim: read {re.escape(MLP)}: \d+ bytes, 1 module, \d+ instructions \([\d.,]+ \w+\)$")
        self.assertRegex(err, r"(?m)^hlosim: simulated mlp\w* \([\d.,]+ \w+\)$")
        self.assertRegex(err, r"(?m)^hlosim: all of it \([\d.,]+ \w+\)$")
        self.assertIn("excludes", hlosim("report", MLP, "--device=v5e", "-v", "-q", code=2)[1])

    # ── the configuration of a run ──

    def printed(self, *arguments):
        text, err = hlosim(*arguments, "--print-config")
        self.assertEqual(err, "")
        path = self.path / "run.yaml"
        path.write_text(text)
        return path, text

    def same_result(self, command, *arguments):
        """The configuration gives the result that the line gives, but for the name of the device file."""
        config, _ = self.printed(*command, *arguments)
        direct, again = json.loads(hlosim(*command, *arguments)[0]), json.loads(hlosim(*command, f"--config={config}")[0])
        for document in (direct, again):
            for side in (document, document.get("before", {}), document.get("after", {})):
                if isinstance(side.get("device"), dict):
                    side["device"].pop("file")
        self.assertEqual(direct, again)

    def test_a_configuration_runs_again(self):
        self.same_result(["report"], MLP, "--device=v5e", "--set", "mxu.count=2", "--format=json", "--no-lower")
        self.same_result(["diff"], MLP, str(self.other()), "--device=v5e", "--format=json")
        self.same_result(["tune", "schedule"], MLP, "--device=v5e", "--format=json", "--knob", "rerun=3", "--no-split")
        self.same_result(["tune", "prefetch"], MLP, "--device=v5e", "--format=json", "--algorithm=xla", "--knob", "max_retries=2")

    def test_origins(self):
        config, text = self.printed("tune", "prefetch", MLP, "--device=v5e", "--knob", "max_retries=2", "--top=3", "--set", "mxu.count=2")
        self.assertRegex(text, r"(?m)^command: \"?tune prefetch\"?$")
        self.assertRegex(text, r"(?m)^  top: 3 +# command line$")
        self.assertRegex(text, r"(?m)^  format: text +# default$")
        self.assertRegex(text, r"(?m)^  # topology: not set$")
        self.assertRegex(text, r"(?m)^  max_retries: \"?2\"? +# --knob$")
        self.assertRegex(text, r"(?m)^  # while_execution_count: \"?5\"? +# default$")
        self.assertRegex(text, r"(?m)^  count: \{value: 2, source: \"override: --set\"\}$")
        again, _ = hlosim("tune", "prefetch", f"--config={config}", "--top=4", "--print-config")
        self.assertRegex(again, r"(?m)^  top: 4 +# command line$")
        self.assertRegex(again, rf"(?m)^  FILE: .* # {re.escape(str(config))}$")
        self.assertIn("value: 2, source: \"override: --set\"", again)

    def test_it_is_a_device_too(self):
        config, _ = self.printed("report", MLP, "--device=v5e", "--set", "mxu.count=2")
        fingerprint = json.loads(hlosim("report", MLP, f"--device={config}", "--format=json")[0])["device"]["fingerprint"]
        wanted = json.loads(hlosim("report", MLP, "--device=v5e", "--set", "mxu.count=2", "--format=json")[0])
        self.assertEqual(fingerprint, wanted["device"]["fingerprint"])

    def test_the_line_wins(self):
        config, _ = self.printed("report", MLP, "--device=v5e", "--format=json")
        out, _ = hlosim("report", f"--config={config}", "--device=v4", "--format=csv")
        self.assertTrue(out.startswith("module,") or "," in out.splitlines()[0], out[:100])
        document = json.loads(hlosim("report", f"--config={config}", "--device=v4")[0])
        self.assertEqual(document["device"]["name"], "TPU v4")

    def test_wrong_configurations(self):
        config, text = self.printed("report", MLP, "--device=v5e")
        wrong = self.path / "wrong.yaml"
        for old, new, said in (("  top:", "  topp:", 'did you mean "top"'), ("command: report", "command: diff", "not of `hlosim report`"),
                               ("# hlosim configuration", "#", "not a configuration of a run"), ("options:", "optionen:", "unknown key"),
                               ("  top: 10", "  top: ten", "ten"), ("count: {value", "countt: {value", "wrong.yaml:")):
            self.assertIn(old, text)
            wrong.write_text(text.replace(old, new, 1))
            _, err = hlosim("report", f"--config={wrong}", code=2)
            self.assertIn(said, err)
        _, err = hlosim("report", "--config=/none", code=2)
        self.assertIn("cannot read '/none'", err)
        _, err = hlosim("report", MLP, "--print-config", "--device=none", code=2)
        self.assertIn("no device file", err)


if __name__ == "__main__":
    unittest.main()
