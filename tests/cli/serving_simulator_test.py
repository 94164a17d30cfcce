#!/usr/bin/env python3
"""The example of a simulator that asks `hlosim serving --predict` gets what `hlosim serving` simulates itself."""
import json
import os
import subprocess
import sys
import unittest

PROGRAM, ROOT = sys.argv[1], sys.argv[2]
MODEL = os.path.join(ROOT, "examples/models/qwen3-8b.yaml")
OPTIONS = ["--device=v6e-4", "--tp=4", "--concurrency=6", "--requests=20", "--isl=300", "--osl=20",
           "--max-num-batched-tokens=256"]


class ServingSimulator(unittest.TestCase):
    def run_json(self, command):
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    def test_agrees_with_serving(self):
        own = self.run_json([PROGRAM, "serving", MODEL, *OPTIONS, "--format=json"])
        other = self.run_json([sys.executable, os.path.join(ROOT, "examples/serving_simulator.py"), MODEL,
                               f"--hlosim={PROGRAM}", *OPTIONS])
        self.assertAlmostEqual(other["ttft_ms_mean"], own["latency_ms"]["ttft"]["mean"], places=6)
        self.assertAlmostEqual(other["tpot_ms_mean"], own["latency_ms"]["tpot"]["mean"], places=6)
        self.assertAlmostEqual(other["output_tok_s"], own["throughput"]["output_tok_s"], places=4)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
