#!/usr/bin/env python3
"""examples/train_step.mlir is what its script writes, has the names and lines of examples/train_step.py, and its gradients are right.

  train_step_test.py HLOSIM
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "examples" / "make_train_step.py"
HLOSIM = sys.argv.pop(1)


def written(*arguments):
    return subprocess.run([sys.executable, SCRIPT, *arguments], check=True, capture_output=True, text=True).stdout


def hlosim(*arguments):
    return subprocess.run([HLOSIM, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


class TrainStep(unittest.TestCase):
    def test_file_is_the_scripts_output(self):
        self.assertEqual((ROOT / "examples/train_step.mlir").read_text(encoding="utf-8"), written())

    def test_operations_have_names_and_lines_of_the_program(self):
        report = json.loads(hlosim("report", ROOT / "examples/train_step.mlir", "--device=v6e", "--format=json"))
        source = (ROOT / "examples/train_step.py").read_text(encoding="utf-8").splitlines()
        places = {(row["op_name"], row["source_line"]) for row in report["instructions"] if row.get("op_name")}
        self.assertGreater(len(places), 50)
        scores = {line for name, line in places if re.search(r"transpose\(jvp\(layer_1/attention\)\)/dot_general", name)}
        self.assertIn(1 + next(i for i, line in enumerate(source) if line.endswith("# values")), scores)

    def test_gradients_are_slopes_of_the_loss(self):
        try:
            import numpy as np
        except ImportError:
            self.skipTest("NumPy is not installed")
        text = written("--batch=2", "--sequence=8", "--width=16", "--heads=2", "--hidden=32", "--vocabulary=40", "--rate=0.5")
        types = re.findall(r"%arg\d+: tensor<([^>]+)>", text[:text.index("->")])
        random = np.random.default_rng(0)
        values = []
        for one in types:
            *shape, dtype = one.split("x")
            shape = tuple(map(int, shape))
            values.append(random.integers(0, 40, shape).astype("int32") if dtype == "i32" else
                          (random.normal(0, 0.3, shape) + (len(shape) == 1)).astype("float32"))
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            (folder / "step.mlir").write_text(text)
            (folder / "in").mkdir()

            def run(arguments):
                for i, value in enumerate(arguments):
                    np.save(folder / "in" / f"param{i}.npy", value)
                hlosim("run", folder / "step.mlir", f"--inputs={folder / 'in'}", "-o", folder / "out")
                return [np.load(folder / "out" / f"output{i}.npy") for i in range(len(arguments) - 1)]

            loss, *updated = run(values)
            weights = len(values) - 2
            slopes = []
            for k in range(weights):
                gradient = (values[k] - updated[k]) / 0.5
                size = float(np.sqrt((gradient ** 2).sum()))
                step = (0.02 * gradient / size).astype("float32")
                up, down = (run([*values[:k], values[k] + sign * step, *values[k + 1:]])[0] for sign in (1, -1))
                slopes.append((size, float(up - down) / 0.04))
        # bf16 products have 8 bits: single slopes differ by up to a fifth, all together by less.
        for k, (size, slope) in enumerate(slopes):
            self.assertAlmostEqual(slope, size, delta=0.3 * size, msg=f"weight {k}")
        total = sum(size ** 2 for size, _ in slopes)
        self.assertLess(sum((slope - size) ** 2 for size, slope in slopes) / total, 0.01)


if __name__ == "__main__":
    unittest.main()
