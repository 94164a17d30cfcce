#!/usr/bin/env python3
"""Every `hlosim …` line in the fenced and indented blocks of the documentation runs, in a folder that has files of the names
that the documents use.

  docs_commands_test.py HLOSIM

A line has to end with exit code 0; one whose comment, or command, says that 1 is an answer may end with 1. Lines of
several processes are left out where there is no mpirun, and pipes to programs that aren't there end in nothing.
"""
import gzip
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HLOSIM = os.path.abspath(sys.argv[1])
LINES_AT_LEAST = 75  # so that a change of the documents' form isn't the end of this test

# Has what the documents name: fusion.17 and fusion.3, a loop with the computation body, parameters for x.npy and weights.npz.
MODULE = """HloModule train_step, is_scheduled=true

fused_computation {
  a = f32[8,128]{1,0:T(8,128)} parameter(0)
  b = f32[8,128]{1,0:T(8,128)} parameter(1)
  ROOT sum = f32[8,128]{1,0:T(8,128)} add(a, b)
}

body {
  p = (s32[], f32[8,128]{1,0:T(8,128)}) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  v = f32[8,128]{1,0:T(8,128)} get-tuple-element(p), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  half = f32[8,128]{1,0:T(8,128)} tanh(v)
  ROOT t = (s32[], f32[8,128]{1,0:T(8,128)}) tuple(next, half)
}

condition {
  p = (s32[], f32[8,128]{1,0:T(8,128)}) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  three = s32[] constant(3)
  ROOT less = pred[] compare(i, three), direction=LT
}

ENTRY main {
  x = f32[8,128]{1,0:T(8,128)} parameter(0)
  w = f32[8,128]{1,0:T(8,128)} parameter(1)
  half = f32[] constant(0.5)
  square = f32[128,128]{1,0:T(8,128)} broadcast(half), dimensions={}
  fusion.17 = f32[8,128]{1,0:T(8,128)} fusion(x, w), kind=kLoop, calls=fused_computation
  fusion.3 = f32[8,128]{1,0:T(8,128)} dot(fusion.17, square), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  zero = s32[] constant(0)
  start = (s32[], f32[8,128]{1,0:T(8,128)}) tuple(zero, fusion.3)
  loop = (s32[], f32[8,128]{1,0:T(8,128)}) while(start), condition=condition, body=body
  ROOT out = f32[8,128]{1,0:T(8,128)} get-tuple-element(loop), index=1
}
"""
SHARDED = """HloModule sharded, num_partitions=4

ENTRY main {
  x = f32[1,4] parameter(0), sharding={devices=[4,1]<=[4]}
  ROOT y = f32[1,4] negate(x), sharding={devices=[4,1]<=[4]}
}
"""
UNSHARDED = "HloModule plain\nENTRY main { x = f32[4,4] parameter(0)\n ROOT y = f32[4,4] negate(x) }\n"
# Two parameters that a mesh can cut; the second module states it.
TRAINED = """HloModule train

ENTRY e {
  tokens = f32[256,64] parameter(0)
  wi = f32[64,128] parameter(1)
  ROOT y = f32[256,128] dot(tokens, wi), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""
CUT = """HloModule cut

ENTRY e {
  x = f32[16,64] parameter(0), sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}
  w = f32[64,32] parameter(1), sharding={devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}
  ROOT y = f32[16,32] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}
}
"""
PRODUCT = """HloModule product
ENTRY e {
  a = bf16[512,512] parameter(0)
  ROOT b = bf16[512,512] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""
KERNELS = """HloModule step
ENTRY main {
  x = f32[8,128] parameter(0)
  y = f32[8,128] custom-call(x), custom_call_target="splash_mha_fwd_residuals"
  z = f32[8,128] custom-call(y), custom_call_target="my_barrier", output_to_operand_aliasing={{}: (0, {})}
  ROOT out = f32[8,128] add(y, z)
}
"""
ATTENTION = "HloModule attention\nENTRY main { x = f32[8,128] parameter(0)\n ROOT y = f32[8,128] tanh(x) }\n"
CHECKED = """func.func @main() {
  %0 = stablehlo.constant dense<1.0> : tensor<2xf32>
  check.expect_eq_const %0, dense<1.0> : tensor<2xf32>
  func.return
}
"""
# Words that stand for something.
STANDS_FOR = {"FILE": "module.hlo", "OLD": "old.hlo", "NEW": "new.hlo", "NAME": "fusion.17", "CASES.json": "cases.json",
              "DIR": "inputs", "OUT": "results", "LOGDIR": "logdir", "…": ""}
SYNTAX = re.compile(r"\[OPTIONS\]|\[COMMAND\]|\bCOMMAND\b")


def npy(shape, value):
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (-(10 + len(head) + 1) % 64) + "\n"
    count = 1
    for side in shape:
        count *= side
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<f", value) * count


def run(command, folder, environment):
    # Commands that read standard input get an empty one.
    return subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)


def prepare(folder, environment):
    """Files of all the names; hlosim itself makes the dump and the saved reports."""
    shutil.copytree(ROOT / "examples", folder / "examples")  # commands write beside what they read
    for name in ("module", "old", "original", "other", "tuned"):
        (folder / f"{name}.hlo").write_text(MODULE)
    (folder / "new.hlo").write_text(MODULE.replace("tanh(v)", "exponential(v)"))
    (folder / "sharded.hlo").write_text(SHARDED)
    (folder / "requests.csv").write_text("seconds,input tokens,output tokens\n0,500,20\n0.1,900,30\n")
    (folder / "plain.hlo").write_text(UNSHARDED)
    (folder / "step.hlo").write_text(KERNELS)
    (folder / "train.hlo").write_text(TRAINED)
    (folder / "mlp.hlo").write_text(TRAINED.replace("tokens", "x").replace("wi", "w"))
    (folder / "sharded_model.hlo").write_text(CUT)
    (folder / "attention.hlo").write_text(ATTENTION)
    (folder / "calls.yaml").write_text("my_barrier: {run: ignore}\n")
    (folder / "my.yaml").write_text("extends: v5e\nname: mine\n")
    (folder / "four.hlo").write_text(MODULE.replace("is_scheduled=true", "is_scheduled=true, replica_count=4", 1))
    (folder / "cases.json").write_text(json.dumps(
        [{"id": "product", "device": "v4", "kind": "matmul", "time_us": 10, "hlo": PRODUCT},
         {"id": "step", "device": "v5e", "kind": "other", "time_us": 20, "hlo": MODULE}] +
        [{"id": f"product of {size}", "device": "v5e", "kind": "matmul", "time_us": size / 20, "hlo": PRODUCT.replace("512", str(size))}
         for size in (512, 1024, 1536, 2048)]))
    (folder / "hlo_stats.csv").write_text("hlo_op_name,occurrences,total_self_time\nfusion.17,2,3.5\nfusion.3,2,4\n")
    (folder / "step.json").write_text(json.dumps(
        [{"id": "product", "device": "v4", "kind": "matmul", "time_us": 10, "hlo": PRODUCT, "family": "step", "occurrences": 4}]))
    (folder / "llama8b_v6e.json").write_text(json.dumps(
        {"module": "module.hlo", "device": "v6e", "step_ms": {"profiled": 1}, "categories_ms": {"loop fusion": 0.5}}))
    (folder / "reports" / "accuracy").mkdir(parents=True)
    (folder / "reports" / "accuracy" / "limits.yaml").write_text("steps:\n  step v4: {error: 10000 %}\n")
    (folder / "flags.txt").write_text("--xla_tpu_scoped_vmem_limit_kib=98304\n")
    # The file test's kernel, under the name that the documents give theirs.
    kernel = (ROOT / "tests/filetests/model/kernel_body.hlo").read_text(encoding="utf-8")
    (folder / "model.hlo").write_text(kernel[:kernel.index("// ==== 1")].replace("scale.1", "splash_mha_fwd_residuals.2"))
    (folder / "config.json").write_text((ROOT / "tests/filetests/workloads/configs/gemma2.json").read_text())
    (folder / "test.mlir").write_text(CHECKED)
    (folder / "overrides.textproto").write_text("max_retries: 2\n")
    (folder / "experiment.yaml").write_text("modules: module.hlo\ndevices: [v4, v5e]\nset:\n  mxu.count: [2, 4]\n"
                                            "columns: [time, hbm_bytes]\nobjectives: [time]\nplot: {x: mxu.count, y: time}\n")
    inputs = folder / "inputs"
    inputs.mkdir()
    for i in range(2):
        (inputs / f"param{i}.npy").write_bytes(npy((8, 128), 0.5))
    (folder / "x.npy").write_bytes(npy((8, 128), 0.5))
    import zipfile
    with zipfile.ZipFile(folder / "weights.npz", "w") as weights:
        weights.writestr("w.npy", npy((8, 128), 0.25))
    dump = folder / "dump"
    dump.mkdir()
    (dump / "module_0001.train_step.before_optimizations.txt").write_text(MODULE.replace(", is_scheduled=true", ""))
    (dump / "module_0001.train_step.cpu_after_optimizations.txt").write_text(MODULE)
    (dump / "module_0002.other.cpu_after_optimizations.txt").write_text(UNSHARDED)
    made = run("hlosim buffers module.hlo --format=xla -o dump.txt", folder, environment)
    assert made.returncode == 0, made.stderr
    packed = gzip.compress((folder / "dump.txt").read_bytes())
    (folder / "module_0001.jit_f.cpu_after_optimizations-buffer-assignment.txt.gz").write_bytes(packed)
    made = run("hlosim trace module.hlo --device=v6e --format=xplane -o logdir", folder, environment)
    assert made.returncode == 0, made.stderr
    for side in ("old", "new"):
        made = run(f"hlosim report {side}.hlo --device=v5e --format=json -o {side}.json", folder, environment)
        assert made.returncode == 0, made.stderr


def commands(document):
    """(command, whole line) of every line of a block that calls hlosim."""
    text = document.read_text(encoding="utf-8")
    blocks = [block for language, block in re.findall(r"^```(\w*)\n(.*?)^```", text, re.M | re.S)
              if language in ("", "sh", "console", "text", "bash")]
    blocks.append("\n".join(re.findall(r"^    (?=\S)(.*)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M)))
    for block in blocks:
        for line in block.splitlines():
            shown = line.removeprefix("$ ")
            command = re.sub(r"\s+#\s.*$", "", shown).replace("scripts/hlosim", "hlosim").replace("build/release/hlosim", "hlosim")
            if re.search(r"(^|\| |mpirun -n \d+ )hlosim ", command) and not SYNTAX.search(command):
                yield command, line


def filled(command):
    for word, instead in STANDS_FOR.items():
        command = re.sub(rf"(?<![\w/.-]){re.escape(word)}(?![\w.])", instead, command) if word.isascii() else command.replace(word, instead)
    return command


def help_examples(environment):
    """The examples at the end of each command's help."""
    overview = run("hlosim help", "/", environment).stdout.split("Commands:")[1]
    names = re.findall(r"^  (\S+) ", overview, re.M)
    names += [f"tune {word}" for word in re.findall(r"^  tune (\S+) ", run("hlosim help tune", "/", environment).stdout, re.M)]
    for name in names:
        for line in run(f"hlosim help {name}", "/", environment).stdout.partition("\nExamples:\n")[2].partition("\n\n")[0].splitlines():
            if line.strip():
                yield line.strip(), line.strip()


def main():
    documents = sorted(ROOT.glob("docs/**/*.md")) + [ROOT / "README.md", ROOT / "examples" / "README.md"]
    wrong, ran, left_out = [], 0, []
    with tempfile.TemporaryDirectory() as temporary:
        tools = pathlib.Path(temporary) / "bin"
        tools.mkdir()
        (tools / "hlosim").symlink_to(HLOSIM)
        environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "OMPI_ALLOW_RUN_AS_ROOT": "1",
                       "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
        for tool in ("dot", "jq"):
            if not shutil.which(tool):
                (tools / tool).write_text("#!/bin/sh\nexec cat > /dev/null\n")
                (tools / tool).chmod(0o755)
        sources = [(document.relative_to(ROOT), list(commands(document))) for document in documents]
        sources.append(("help", list(help_examples(environment))))
        for number, (name, lines) in enumerate(sources):
            if not lines:
                continue
            folder = pathlib.Path(temporary) / str(number)
            folder.mkdir()
            prepare(folder, environment)
            for command, line in lines:
                command = filled(command)
                if "mpirun" in command and " run " in command:
                    command = command.replace("module.hlo", "four.hlo")
                if "hlosim init" in command:
                    (folder / "hlosim-gate.yaml").unlink(missing_ok=True)
                    (folder / "gates").mkdir(exist_ok=True)
                if str(name) == "help":
                    command = command.replace("fusion.12", "fusion.17").replace("dump/*.txt", "dump/module_*.txt")
                if "mpirun" in command and not shutil.which("mpirun"):
                    left_out.append(line)
                    continue
                if command.startswith("hlosim gate") and not (folder / "hlosim-gate.yaml").exists():
                    (folder / "hlosim-gate.yaml").write_text("modules: [module.hlo]\ndevices: [v5e]\n")
                if command == "hlosim gate" or "--junit" in command:
                    run("hlosim gate --update-baseline", folder, environment)
                done = run(command, folder, environment)
                if re.search(r"mpirun", command) and "built without MPI" in done.stderr:
                    left_out.append(line)
                    continue
                ran += 1
                may_be_no = re.search(r"exit (code )?1", line)
                if done.returncode != 0 and not (may_be_no and done.returncode == 1):
                    wrong.append(f"{name}: {line}\n  ran: {command}\n  exit code {done.returncode}\n  {done.stderr[-600:]}")
    for text in wrong:
        print(text)
    for line in left_out:
        print(f"left out: {line}")
    print(f"{ran} commands, {len(wrong)} wrong")
    return 1 if wrong or ran < LINES_AT_LEAST else 0


sys.exit(main())
