#!/usr/bin/env python3
"""Constants come back from times that another device file made: usage calibrate_test.py HLOSIM

Modules of several kinds and sizes are timed on a device with three other constants, 1 % of noise is added; `hlosim
calibrate` has to find which three, and each within 2 %.
"""
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

HLOSIM = sys.argv[1]


def run(*arguments, code=0):
    done = subprocess.run([HLOSIM, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == code, (arguments, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout if code == 0 else done.stderr


def product(rows, depth, columns):
    return (f"HloModule product, is_scheduled=true\nENTRY %main (a: bf16[{rows},{depth}], b: bf16[{depth},{columns}]) -> bf16[{rows},{columns}] {{\n"
            f"  %a = bf16[{rows},{depth}]{{1,0:T(8,128)(2,1)}} parameter(0)\n"
            f"  %b = bf16[{depth},{columns}]{{1,0:T(8,128)(2,1)}} parameter(1)\n"
            f"  ROOT %dot = bf16[{rows},{columns}]{{1,0:T(8,128)(2,1)}} dot(%a, %b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n}}\n")


def elementwise(opcode, rows, columns, times=1):
    shape = f"f32[{rows},{columns}]"
    lines = [f"  %x0 = {shape}{{1,0:T(8,128)}} parameter(0)"]
    for i in range(times):
        root = "ROOT " if i == times - 1 else ""
        lines.append(f"  {root}%x{i + 1} = {shape}{{1,0:T(8,128)}} {opcode}(%x{i})")
    body = "\n".join(lines)
    return (f"HloModule {opcode}, is_scheduled=true\n%fused (x0: {shape}) -> {shape} {{\n{body}\n}}\n\n"
            f"ENTRY %main (p: {shape}) -> {shape} {{\n  %p = {shape}{{1,0:T(8,128)}} parameter(0)\n"
            f"  ROOT %f = {shape}{{1,0:T(8,128)}} fusion(%p), kind=kLoop, calls=%fused\n}}\n")


def modules():
    for rows in (256, 1024, 4096):
        for depth in (512, 2048):
            yield f"product {rows}x{depth}", product(rows, depth, 1024)
    for rows in (8, 64, 256, 1024, 4096, 16384):
        for opcode in ("negate", "exponential", "tanh"):
            yield f"{opcode} {rows}", elementwise(opcode, rows, 512)
            yield f"{opcode} x 8 {rows}", elementwise(opcode, rows, 512, 8)
    for rows in (512, 1024, 2048, 8192):
        yield f"exponential x 60 {rows}", elementwise("exponential", rows, 512, 60)


def cases(device, times=None):
    return [{"id": name, "device": device, "kind": name.split()[0], "hlo": text, "optimized": True,
             "time_us": times[name] if times else 1} for name, text in modules()]


def recover(folder, changes, name):
    """Fits to times of v5e with `changes` ({path: text}); the found factors over the true ones."""
    other = folder / f"{name}.yaml"
    data = folder / f"{name}.json"
    data.write_text(json.dumps(cases("v5e")))
    flags = [flag for path, text in changes.items() for flag in ("--set", f"{path}={text}")]
    predicted = json.loads(run("accuracy", data, "--format=json", *flags))["cases"]
    noise = random.Random(7)
    times = {one["id"]: one["predicted_us"] * noise.gauss(1, 0.01) for one in predicted}
    data.write_text(json.dumps(cases("v5e", times)))
    text = run("calibrate", data, "--device=v5e", "-o", other)
    shown = {path: shown_text(other, path) for path in changes}
    fitted = set(re.findall(r"^  ([a-z_]+\.[a-z0-9_.]+) +\S.*%", text.split("stays as it is")[0], re.M))
    assert fitted == set(changes), (fitted, text)
    for path, true in changes.items():
        ratio = amount(shown[path]) / amount(true)
        assert abs(ratio - 1) < 0.02, (path, shown[path], true, text)
    assert "calibrated:" in other.read_text() and data.name in other.read_text()
    # The file is a device: its errors on the same cases are those that it claims.
    after = json.loads(run("accuracy", data, "--format=json", *(flag for path in changes for flag in ("--set", f"{path}={shown[path]}"))))
    errors = sorted(abs(one["predicted_us"] / one["measured_us"] - 1) for one in after["cases"])
    assert errors[len(errors) // 2] < 0.012, errors
    return text


def amount(text):
    number, _, unit = text.partition(" ")
    return float(number) * {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "GB/s": 1e9, "": 1}[unit]


def shown_text(device, path):
    line = next(line for line in run("devices", device).splitlines() if line.startswith(path + " "))
    return re.split(r"  +", line)[1]


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        recover(folder, {"dma.bandwidth": "600 GB/s", "overhead.smallest_fusion": "2500 ns", "vpu.ops.transcendental.alu": "6"}, "memory")
        # Nothing to find: nothing is changed.
        data = folder / "same.json"
        data.write_text(json.dumps(cases("v5e")))
        predicted = json.loads(run("accuracy", data, "--format=json"))["cases"]
        noise = random.Random(3)
        data.write_text(json.dumps(cases("v5e", {one["id"]: one["predicted_us"] * noise.gauss(1, 0.01) for one in predicted})))
        text = run("calibrate", data, "--device=v5e")
        assert "no constant is determined" in text, text
        # Never more constants than the data carry.
        data.write_text(json.dumps(cases("v5e", {one["id"]: one["predicted_us"] for one in predicted})[:2]))
        assert "too few" in run("calibrate", data, "--device=v5e", code=2)
        assert "did you mean \"dma.bandwidth\"" in run("calibrate", data, "--device=v5e", "--key=dma.bandwith", code=2)
    print("the constants are found")


main()
