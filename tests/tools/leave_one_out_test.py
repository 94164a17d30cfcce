#!/usr/bin/env python3
"""tools/leave_one_out on runs whose times are known functions of a constant, from a program that stands in for hlosim."""

import json
import os
import stat
import subprocess
import sys
import tempfile
import unittest

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "leave_one_out")

# Answers as `hlosim accuracy FILE --format=json --set key=value`: a run takes fixed + slope x seconds.
PROGRAM = """#!{python}
import json, sys
x = {default}
for word in sys.argv:
    if word.startswith("some.key="): x = float(word.partition("=")[2])
cases = []
for run in json.load(open(sys.argv[2])):
    time = run["fixed"] + run["slope"] * x
    cases.append({{"id": run["id"], "predicted_us": None if run.get("fails") else 1e6 * time}})
print(json.dumps({{"cases": cases}}))
"""


def run_of(name, source, measured, slope=1.0, fixed=0.0, device="v5e", **more):
    """Its own best value of the constant is (measured - fixed) / slope."""
    return dict(id=name, source=source + "@abc123:somewhere", device=device, model={"name": "m"}, slope=slope,
                fixed=fixed, measured={"step_seconds": measured}, **more)


class LeaveOneOut(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.program = os.path.join(self.folder.name, "hlosim")

    def study(self, runs, *options, default=2):
        with open(self.program, "w", encoding="utf-8") as file:
            file.write(PROGRAM.format(python=sys.executable, default=default))
        os.chmod(self.program, os.stat(self.program).st_mode | stat.S_IXUSR)
        path = os.path.join(self.folder.name, "runs.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(runs, file)
        return subprocess.run([sys.executable, TOOL, "--hlosim", self.program, "--key", "some.key=1,2,4", *options, path],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)

    def rows(self, done):
        """Of each group: the number of runs, the value, errors by it and by the device files' value."""
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = {}
        for line in done.stdout.splitlines()[2:]:
            values = [word for word in line.split() if word.startswith("some.key=")]
            words = line[:50].strip(), line[50:].replace("%", "").split()
            numbers = [float(word) for word in words[1] if not word.startswith("some.key=")]
            rows[words[0]] = (int(numbers[0]), values[0] if values else None, numbers[1:3], numbers[3:5])
        return rows

    def test_a_group_is_judged_by_the_value_of_the_others(self):
        runs = [run_of("a1", "a/a", 2.0), run_of("a2", "a/a", 2.0), run_of("a3", "a/a", 2.0),
                run_of("b", "b/b", 4.0)]
        rows = self.rows(self.study(runs, "--by", "source"))
        self.assertEqual(rows["a/a"], (3, "some.key=4", [100.0, 100.0], [0.0, 0.0]))
        self.assertEqual(rows["b/b"], (1, "some.key=2", [50.0, 50.0], [50.0, 50.0]))
        self.assertEqual(rows["these together"][0], 4)
        self.assertEqual(rows["these together"][2], [100.0, 100.0])

    def test_runs_that_the_constant_does_not_move_have_no_say(self):
        runs = [run_of("a", "a/a", 2.0), run_of("b", "b/b", 2.0), run_of("still", "b/b", 10.0, slope=0, fixed=5.0)]
        done = self.study(runs)
        self.assertIn("2 of 3 runs move", done.stdout)
        rows = self.rows(done)
        self.assertEqual(rows["b/b"][0], 1)
        self.assertEqual(rows["all runs"][0], 3)
        self.assertEqual(rows["all runs"][2][0], 0.0)  # the median of 0, 0 and 50 %

    def test_no_run_decides_alone(self):
        # By the sum of |ln| the two that are off by 10,000 and more would choose 1 for all.
        runs = [run_of("far1", "a/a", 1e-4), run_of("far2", "a/a", 1e-4), run_of("b", "b/b", 4.0),
                run_of("c", "c/c", 4.0)]
        self.assertEqual(self.rows(self.study(runs))["c/c"][1], "some.key=4")

    def test_groups_by_generation_and_by_family(self):
        runs = [run_of("a", "a/a", 2.0, device="v4"), run_of("b", "a/a", 4.0, device="v6e")]
        self.assertLessEqual({"v4", "v6e"}, set(self.rows(self.study(runs, "--by", "generation"))))
        self.assertLessEqual({"v4 m", "v6e m"}, set(self.rows(self.study(runs, "--by", "family"))))

    def test_a_run_without_a_prediction_is_left_out(self):
        runs = [run_of("a", "a/a", 2.0), run_of("b", "b/b", 2.0), run_of("bad", "b/b", 2.0, fails=True)]
        self.assertEqual(self.rows(self.study(runs))["all runs"][0], 2)

    def test_a_constant_that_moves_nothing_is_an_error(self):
        done = self.study([run_of("a", "a/a", 2.0, slope=0, fixed=1.0)])
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no run is moved", done.stderr)


if __name__ == "__main__":
    unittest.main()
