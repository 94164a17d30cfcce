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

# Answers as `hlosim accuracy FILE --format=json --set key=value`: a run takes fixed + slope some.key + other
# other.key seconds. It writes down how many runs it was asked for.
PROGRAM = """#!{python}
import json, sys
values = {{"some.key": {default}, "other.key": 0}}
for word in sys.argv:
    key, _, value = word.partition("=")
    if key in values: values[key] = float(value)
cases = []
runs = json.load(open(sys.argv[2]))
with open(sys.argv[0] + ".asked", "a") as file: file.write(f"{{len(runs)}}\\n")
for run in runs:
    time = run["fixed"] + run["slope"] * values["some.key"] + run.get("other", 0) * values["other.key"]
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

    def asked(self):
        with open(self.program + ".asked", encoding="utf-8") as file:
            return [int(line) for line in file]

    def rows(self, done, table=0):
        """Of each group: the number of runs, the values, errors by them and by the device files' values."""
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        begins = [i for i, line in enumerate(lines) if line.startswith("left out")][table]
        rows = {}
        for line in lines[begins + 1:]:
            if " runs move" in line:
                break
            words = line[50:].replace("%", "").split()
            values = [word for word in words if "=" in word]
            numbers = [float(word) for word in words if "=" not in word]
            rows[line[:50].strip()] = (int(numbers[0]), " ".join(values) or None, numbers[1:3], numbers[3:5])
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

    def test_a_second_grid_is_searched_with_the_choices_of_the_first(self):
        # With some.key=4 (b alone) a needs other.key=1; with 1 (a alone) b needs 3.
        runs = [run_of("a", "a/a", 5.0, other=1.0), run_of("b", "b/b", 4.0, other=1.0)]
        done = self.study(runs, "--then", "other.key=0,1,3")
        self.assertEqual(self.rows(done)["a/a"], (1, "some.key=4", [20.0, 20.0], [60.0, 60.0]))
        rows = self.rows(done, table=1)
        self.assertEqual(rows["a/a"], (1, "some.key=4 other.key=0", [20.0, 20.0], [60.0, 60.0]))
        self.assertEqual(rows["b/b"], (1, "some.key=4 other.key=1", [25.0, 25.0], [50.0, 50.0]))

    def test_a_key_of_a_device_is_set_for_its_runs(self):
        runs = [run_of("a", "a/a", 4.0, slope=0, fixed=2.0, other=1.0),
                run_of("b", "b/b", 4.0, slope=0, fixed=2.0, other=1.0, device="v6e"),
                run_of("c", "c/c", 4.0, slope=1)]
        done = self.study(runs, "--then", "v6e:other.key=0,2")
        self.assertIn("2 of 3 runs move", done.stdout)
        rows = self.rows(done, table=1)
        self.assertNotIn("a/a", rows)
        self.assertEqual(rows["b/b"][1], "some.key=4")  # nobody else says anything of it
        self.assertEqual(rows["c/c"][1], "v6e:other.key=2")

    def test_runs_are_simulated_again_for_keys_that_move_them(self):
        runs = [run_of("a", "a/a", 2.0), run_of("b", "b/b", 2.0),
                run_of("still", "b/b", 5.0, slope=0, fixed=5.0, other=1.0)]
        self.rows(self.study(runs, "--key", "other.key=0,1,2"))
        # All of them alone and for the ends of both keys; then values between: 2 of one key, 1 of the other.
        self.assertEqual(self.asked()[:5], [3, 3, 3, 3, 3])
        self.assertEqual(sorted(self.asked()[5:]), [1, 2])

    def test_kept_predictions_are_not_made_again(self):
        runs = [run_of("a", "a/a", 2.0), run_of("b", "b/b", 4.0)]
        folder = os.path.join(self.folder.name, "kept")
        first = self.study(runs, "--keep", folder)
        asked = len(self.asked())
        self.assertGreater(asked, 0)
        again = self.study(runs, "--keep", folder)
        self.assertEqual(again.stdout, first.stdout)
        self.assertEqual(len(self.asked()), asked)
        self.study([*runs, run_of("c", "c/c", 4.0)], "--keep", folder)  # other runs are others
        self.assertGreater(len(self.asked()), asked)

    def test_a_constant_that_moves_nothing_is_an_error(self):
        done = self.study([run_of("a", "a/a", 2.0, slope=0, fixed=1.0)])
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no run is moved", done.stderr)


if __name__ == "__main__":
    unittest.main()
