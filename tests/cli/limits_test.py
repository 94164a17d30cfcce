#!/usr/bin/env python3
"""What ends a command before it is done: --max-seconds, --max-memory, Ctrl-C. Each says what was under way.

  limits_test.py PROGRAM
"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = sys.argv.pop(1)

LOOP = """HloModule endless

condition {
  state = (s32[], f32[4]) parameter(0)
  count = s32[] get-tuple-element(state), index=0
  zero = s32[] constant(0)
  ROOT go_on = pred[] compare(count, zero), direction=GE
}

body {
  state = (s32[], f32[4]) parameter(0)
  count = s32[] get-tuple-element(state), index=0
  value = f32[4] get-tuple-element(state), index=1
  mask = s32[] constant(1)
  next = s32[] and(count, mask)
  %s
  ROOT result = (s32[], f32[4]) tuple(next, other)
}

ENTRY main {
  start = (s32[], f32[4]) parameter(0)
  ROOT loop = (s32[], f32[4]) while(start), condition=condition, body=body
}
"""
LOOPS = {
    "steps": LOOP % "other = f32[4] sort(value), dimensions={0}, to_apply={ a = f32[] parameter(0) "
                    "b = f32[] parameter(1) ROOT l = pred[] compare(a, b), direction=LT }",
    "scalars": (LOOP % "other = f32[] tanh(value)").replace("f32[4]", "f32[]"),
}
# More than a second of work, in small steps and in one.
LONG = "HloModule long\n\nENTRY main {\n  p = f32[8,128] parameter(0)\n  i0 = f32[8,128] tanh(p)\n%s" \
       "  ROOT r = f32[8,128] copy(i%d)\n}\n"


def long_module(count):
    lines = "".join(f"  i{i} = f32[8,128] add(i{i - 1}, p)\n" for i in range(1, count + 1))
    return LONG % (lines, count)


class Limits(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.path = pathlib.Path(self.temporary.name)
        for name, text in LOOPS.items():
            (self.path / f"{name}.hlo").write_text(text, encoding="utf-8")

    def hlosim(self, *arguments):
        return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, cwd=self.path, check=False,
                              timeout=300)

    def test_an_endless_loop_says_where_it_was(self):
        for name in LOOPS:
            for more in ([], ["--physical"]):
                with self.subTest(name=name, more=more):
                    ended = self.hlosim("run", f"{name}.hlo", "--args=zeros", "--max-seconds=0.2", *more)
                    self.assertEqual(ended.returncode, 2, ended.stderr)
                    self.assertIn("not done after 0.2 s (--max-seconds)", ended.stderr)
                    self.assertRegex(ended.stderr, rf"^{name}\.hlo:\d+:\d+: error: ")
                    if not more:
                        self.assertRegex(ended.stderr, r"hint: in iteration \d+ of loop")

    def test_an_interrupt_says_where_it_was(self):
        process = subprocess.Popen([PROGRAM, "run", "steps.hlo", "--args=zeros"], stderr=subprocess.PIPE,
                                   stdout=subprocess.DEVNULL, text=True, cwd=self.path)
        stat = pathlib.Path(f"/proc/{process.pid}/stat")
        # It runs once it has had much more of the processor than reading takes.
        while int(stat.read_text().rsplit(")", 1)[1].split()[11]) < 0.5 * os.sysconf("SC_CLK_TCK"):
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, text = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 130)
        self.assertRegex(text, r"^steps\.hlo:\d+:\d+: error: .*: interrupted\n")
        self.assertRegex(text, r"hint: in iteration \d+ of loop")

    def test_every_command_ends_in_time(self):
        (self.path / "long.hlo").write_text(long_module(200000), encoding="utf-8")
        commands = [["report", "--device=v5e"], ["lower", "--device=v5e"], ["tune", "prefetch", "--device=v5e"],
                    ["tune", "layout", "--device=v5e"], ["tune", "schedule", "--device=v5e"],
                    ["check"], ["print"], ["buffers"], ["cost"], ["trace", "--device=v5e"]]
        for command in commands:
            with self.subTest(command=command):
                ended = self.hlosim(*command, "long.hlo", "--max-seconds=0.02")
                self.assertEqual(ended.returncode, 2, ended.stderr)
                self.assertRegex(ended.stderr, r"error: not done after 0\.02 s \(--max-seconds\)\n  hint: under way: ")

    def test_memory(self):
        (self.path / "long.hlo").write_text(long_module(200000), encoding="utf-8")
        ended = self.hlosim("report", "--device=v5e", "long.hlo", "--max-memory=32MiB")
        self.assertEqual(ended.returncode, 2, ended.stderr)
        self.assertRegex(ended.stderr, r"error: needs more than 32\.00 MiB \(--max-memory\)\n  hint: under way: ")
        self.assertEqual(self.hlosim("check", "scalars.hlo", "--max-memory=4GiB", "--max-seconds=600").returncode, 0)

    def test_wide_operations_take_what_they_list(self):
        # Where time or memory grew with the square, 40,000 operands took minutes, or gigabytes.
        count = 40000
        names = [f"x{i}" for i in range(count)]
        made = "".join(f"  {name} = f32[8] negate(p)\n" for name in names)
        for name, lines, operands in (("many", made, names), ("one", "", ["p"] * count)):
            (self.path / f"{name}.hlo").write_text(
                f"HloModule {name}\n\nENTRY main {{\n  p = f32[8] parameter(0)\n{lines}  ROOT all = f32[{8 * count}] "
                f"concatenate({', '.join(operands)}), dimensions={{0}}\n}}\n", encoding="utf-8")
            for command in (["buffers", "--device=v5e"], ["tune", "prefetch", "--device=v5e"]):
                with self.subTest(name=name, command=command):
                    ended = self.hlosim(*command, f"{name}.hlo", "--max-seconds=60", "--max-memory=1GiB")
                    self.assertEqual(ended.returncode, 0, ended.stderr)

    def test_wrong_values(self):
        for value, problem in {"--max-seconds=0": "not a number above 0", "--max-seconds=soon": "not a number above 0",
                               "--max-memory=lots": "expected a size"}.items():
            with self.subTest(value=value):
                ended = self.hlosim("check", "scalars.hlo", value)
                self.assertEqual(ended.returncode, 2)
                self.assertIn(problem, ended.stderr)


if __name__ == "__main__":
    unittest.main()
