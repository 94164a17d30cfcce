#!/usr/bin/env python3
"""One device file is all that a generation needs: names, slices, lanes, range of errors and the profiler's name for it.

  generation_test.py PROGRAM
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop(1)
FOLDER = pathlib.Path(__file__).parent / "generation"

PRODUCT = """HloModule product

ENTRY main {
  x = bf16[4096,4096] parameter(0)
  y = bf16[4096,4096] parameter(1)
  ROOT z = bf16[4096,4096] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""
SUM = """HloModule sum, num_partitions=128

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  x = f32[1024,1024] parameter(0)
  y = f32[1024,1024] exponential(x)
  ROOT z = f32[1024,1024] all-reduce(y), channel_id=1, replica_groups=[1,128]<=[128], use_global_device_ids=true, to_apply=add
}
"""


def hlosim(*arguments, fails=False):
    run = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False,
                         env={**os.environ, "HLOSIM_CONFIG_PATH": str(FOLDER)})
    assert fails == (run.returncode != 0), f"{arguments}: {run.stderr}"
    return run.stderr if fails else run.stdout


class Generation(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.product, self.sum = self.folder / "product.hlo", self.folder / "sum.hlo"
        self.product.write_text(PRODUCT, encoding="utf-8")
        self.sum.write_text(SUM, encoding="utf-8")

    def report(self, path, *options):
        return json.loads(hlosim("report", "--format=json", *options, path))

    def test_its_names_lead_to_it(self):
        for name in ["x9", "tpux9", "NINTH", "TPU X9", "tpu-x9-slice", "x9-8", "ninth-4x4x4"]:
            self.assertEqual(self.report(self.product, f"--device={name}")["device"]["name"], "TPU X9", name)
        self.assertIn('did you mean "x9', hlosim("--device=x99", self.product, fails=True))

    def test_an_accelerator_type_says_the_slice(self):
        report = self.report(self.sum, "--device=x9-128")  # of two cores a chip
        self.assertTrue(report["device"]["slice"].startswith("4x4x4 (torus)"), report["device"])
        error = hlosim("--device=x9-100", self.sum, fails=True)
        self.assertIn("there is no slice x9-100: x9 has none of 100 TensorCores", error)
        self.assertIn("x9-64 (2x4x4) and x9-128 (4x4x4)", error)

    def test_lowering_takes_its_registers(self):
        self.assertIn("T(8,256)", hlosim("lower", "--device=x9", self.sum))

    def test_vector_work_takes_half_the_registers(self):
        def busy(*options):
            units = self.report(self.sum, "--device=x9", *options)["time"]["by_unit"]
            return next(row["busy_ps"] for row in units if row["unit"] == "VPU")
        self.assertAlmostEqual(busy("--set", "vpu.lanes=128") / busy(), 2, delta=0.01)

    def test_its_range_is_that_of_its_file(self):
        def total(*options):
            return self.report(self.product, "--device=x9", *options)["time"]
        own, other = total(), total("--set", "errors.matmul.high=3")
        self.assertAlmostEqual(own["range_ps"]["high"] / own["total_ps"], 1.5, delta=0.02)
        self.assertAlmostEqual(own["range_ps"]["low"] / own["total_ps"], 0.5, delta=0.02)
        self.assertAlmostEqual(other["range_ps"]["high"] / other["total_ps"], 3, delta=0.04)
        self.assertEqual(own["total_ps"], other["total_ps"])

    def test_profiles_carry_its_name(self):
        hlosim("trace", self.product, "--device=x9", "--format=xplane", "-o", self.folder / "logs")
        [profile] = self.folder.glob("logs/**/*.xplane.pb")
        self.assertIn(b"TPU X9", profile.read_bytes())
        compared = hlosim("profile", "--format=json", profile)  # and are simulated on it unasked
        self.assertIn("TPU X9", compared)
        self.assertNotIn("--device is missing", compared)

    def test_files_without_names_of_their_own_are_found_by_their_file_only(self):
        own = self.folder / "mine.yaml"
        own.write_text("extends: v6e.yaml\nname: mine\n", encoding="utf-8")
        run = subprocess.run([PROGRAM, "report", "--format=json", "--device=v6e-8", str(self.product)], capture_output=True,
                             text=True, check=True, env={**os.environ, "HLOSIM_CONFIG_PATH": str(self.folder)})
        self.assertEqual(json.loads(run.stdout)["device"]["name"], "TPU v6e")


if __name__ == "__main__":
    unittest.main()
