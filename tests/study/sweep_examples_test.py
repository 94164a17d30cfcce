#!/usr/bin/env python3
"""What the examples of sweeps show is there to be seen: usage sweep_examples_test.py HLOSIM SOURCE"""
import csv
import io
import subprocess
import sys

HLOSIM, SOURCE = sys.argv[1:]


def main():
    run = subprocess.run([HLOSIM, "sweep", f"{SOURCE}/examples/sweep_generations.yaml", "--no-journal", "--format=csv"],
                         capture_output=True, text=True, check=True)
    points = list(csv.DictReader(io.StringIO(run.stdout)))
    # HBM bounds the block as it stands: each step of bandwidth shows on both devices.
    for device in ("v4", "v5e"):
        times = [int(point["time_ps"]) for point in points if point["device"] == device and point["lower"] == "false"]
        assert len(times) == 7, points
        assert all(after < 0.95 * before for before, after in zip(times, times[1:])), (device, times)


main()
