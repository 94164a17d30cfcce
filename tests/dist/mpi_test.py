#!/usr/bin/env python3
"""Runs hlosim on several ranks of MPI.

  mpi_test.py HLOSIM MPIRUN

The same bits on any number of ranks; ranks that lose each other, wait in a circle or die end the run, with a word
why. Exit: 0 all well, 1 a failure, 77 mpirun can't start programs here (skipped).
"""
import pathlib
import random
import subprocess
import sys
import tempfile
import time

HLOSIM, MPIRUN = sys.argv[1:3]
failures = []


def run(ranks, *args, timeout=60):
    start = [MPIRUN, "--allow-run-as-root", "--oversubscribe", "-n", str(ranks)] if ranks > 0 else []
    return subprocess.run(start + [HLOSIM, *args], capture_output=True, text=True, timeout=timeout)


def expect(condition, what, result=None):
    if not condition:
        failures.append(what)
        print("FAILED:", what)
        if result is not None:
            print(result.stdout, result.stderr, sep="\n")


SUM = """sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
"""


def random_module(seed):
    """A chain of collectives on eight devices, in a loop."""
    rng = random.Random(seed)
    lines, value = [], "x"
    for i in range(6):
        size = rng.choice([2, 4, 8])
        order = rng.sample(range(8), 8)
        groups = "{" + ",".join("{" + ",".join(map(str, order[k:k + size])) + "}" for k in range(0, 8, size)) + "}"
        kind = rng.randrange(5)
        if kind == 0:
            lines.append(f"v{i} = f32[8,24] all-reduce({value}), replica_groups={groups}, to_apply=sum")
        elif kind == 1:
            lines.append(f"part{i} = f32[{8 // size},24] reduce-scatter({value}), replica_groups={groups}, dimensions={{0}}, to_apply=sum")
            lines.append(f"v{i} = f32[8,24] all-gather(part{i}), replica_groups={groups}, dimensions={{0}}")
        elif kind == 2:
            lines.append(f"v{i} = f32[8,24] all-to-all({value}), replica_groups={groups}, dimensions={{1}}")
        elif kind == 3:
            pairs = ",".join(f"{{{a},{b}}}" for a, b in zip(order, rng.sample(range(8), 5)))
            lines.append(f"moved{i} = f32[8,24] collective-permute({value}), source_target_pairs={{{pairs}}}")
            lines.append(f"v{i} = f32[8,24] subtract({value}, moved{i})")
        else:
            lines.append(f"v{i} = f32[8,24] collective-broadcast({value}), replica_groups={groups}")
        value = f"v{i}"
    body = "\n  ".join(lines)
    return f"""HloModule random{seed}, replica_count=8
{SUM}
condition {{
  state = (s32[], f32[8,24]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  limit = s32[] constant(2)
  ROOT go = pred[] compare(i, limit), direction=LT
}}
body {{
  state = (s32[], f32[8,24]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  x = f32[8,24] get-tuple-element(state), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  {body}
  ROOT out = (s32[], f32[8,24]) tuple(next, {value})
}}
ENTRY main {{
  id = u32[] replica-id()
  r = f32[] convert(id)
  base = f32[8,24] broadcast(r), dimensions={{}}
  x = f32[8,24] parameter(0)
  y = f32[8,24] add(x, base)
  zero = s32[] constant(0)
  init = (s32[], f32[8,24]) tuple(zero, y)
  loop = (s32[], f32[8,24]) while(init), condition=condition, body=body
  ROOT out = f32[8,24] get-tuple-element(loop), index=1
}}
"""


def branches(pairs):
    """Device r takes branch r, in which it sums with the devices pairs[r]."""
    text = f"HloModule branches, replica_count={len(pairs)}\n{SUM}"
    for i, group in enumerate(pairs):
        others = [d for d in range(len(pairs)) if d not in group]
        listed = ",".join("{" + ",".join(map(str, g)) + "}" for g in [group] + [[d] for d in others])
        text += f"branch{i} {{\n  x{i} = f32[] parameter(0)\n  ROOT sum{i} = f32[] all-reduce(x{i}), replica_groups={{{listed}}}, to_apply=sum\n}}\n"
    names = ", ".join(f"branch{i}" for i in range(len(pairs)))
    operands = ", ".join(["x"] * len(pairs))
    return text + f"""ENTRY main {{
  id = u32[] replica-id()
  branch = s32[] convert(id)
  x = f32[] constant(1)
  ROOT y = f32[] conditional(branch, {operands}), branch_computations={{{names}}}
}}
"""


ENDLESS = f"""HloModule endless, replica_count=2
{SUM}
condition {{
  x = f32[] parameter(0)
  limit = f32[] constant(0)
  ROOT go = pred[] compare(x, limit), direction=GT
}}
body {{
  x = f32[] parameter(0)
  s = f32[] all-reduce(x), replica_groups={{{{0,1}}}}, to_apply=sum
  half = f32[] constant(0.5)
  ROOT y = f32[] multiply(s, half)
}}
ENTRY main {{
  one = f32[] constant(1)
  ROOT loop = f32[] while(one), condition=condition, body=body
}}
"""


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)

        def module(name, text):
            (folder / name).write_text(text)
            return str(folder / name)

        probe = run(2, "run", module("probe.hlo", random_module(0)), "--args=random", "--print")
        if "started by mpirun, but built without MPI" in probe.stderr or (
                probe.returncode != 0 and "hlosim" not in probe.stderr):
            print("skipped: no ranks here:", probe.stderr)
            return 77
        for seed in range(4):
            path = module(f"random{seed}.hlo", random_module(seed))
            alone = run(0, "run", path, "--args=random", "--print")
            expect(alone.returncode == 0 and alone.stdout, f"seed {seed} runs", alone)
            for ranks in (2, 4):
                together = run(ranks, "run", path, "--args=random", "--print", "--threads=1")
                expect(together.stdout == alone.stdout, f"seed {seed} on {ranks} ranks gives the same", together)

        start = time.monotonic()
        lost = run(2, "run", module("lost.hlo", branches([[0, 1], [0, 1]])))
        expect(lost.returncode == 2, "ranks at different meetings end with 2", lost)
        expect("all-reduce sum0 of devices {0,1}" in lost.stderr and "sum1" in lost.stderr, "both meetings are named", lost)
        circle = run(3, "run", module("circle.hlo", branches([[0, 1], [1, 2], [2, 0]])))
        expect(circle.returncode == 2 and "ranks wait for each other" in circle.stderr, "a circle is found", circle)
        expect(time.monotonic() - start < 20, "both within seconds")

        running = subprocess.Popen([MPIRUN, "--allow-run-as-root", "--oversubscribe", "-n", "2", HLOSIM, "run",
                                    module("endless.hlo", ENDLESS)], stderr=subprocess.PIPE, text=True)
        victim, deadline = None, time.monotonic() + 20
        while victim is None and time.monotonic() < deadline:
            children = subprocess.run(["pgrep", "-P", str(running.pid)], capture_output=True, text=True).stdout.split()
            victim = int(children[-1]) if len(children) >= 2 else None
            time.sleep(0.2)
        if victim is None:
            running.kill()
            expect(False, "two ranks start")
        else:
            time.sleep(0.5)
            subprocess.run(["kill", "-9", str(victim)], check=False)
            try:
                _, said = running.communicate(timeout=30)
                expect(running.returncode != 0, "a rank that dies ends the run")
                expect("rank" in said and "signal 9" in said, "it is named: " + said)
            except subprocess.TimeoutExpired:
                running.kill()
                expect(False, "a rank that dies ends the run within 30 s")
    return 1 if failures else 0


sys.exit(main())
