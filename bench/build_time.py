#!/usr/bin/env python3
"""Where the time of a build goes: processor seconds per folder, and the slowest files.

  bench/build_time.py [--target T]... [--preset P] [--build DIR] [--jobs N] [--slowest N]
  bench/build_time.py --read LOG

Configures DIR (a new folder that is deleted afterwards, unless named), builds the targets (hlosim) with nothing cached,
and prints what was measured: user and system time of every run of the compiler and of the linker, with all that they
start. Unlike the times in .ninja_log these don't grow when the machine does other things as well. With --build the
measurements stay in DIR/build_time.log; --read prints them again.
"""
import argparse
import collections
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOG = "HLOSIM_BUILD_TIME_LOG"


def output_of(command):
    """What a compiler's command line makes."""
    for option, value in zip(command, command[1:]):
        if option == "-o":
            return value
    return pathlib.Path(command[0]).name


def launch(command):
    """Runs a command and notes its processor time."""
    code = subprocess.call(command)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(os.environ[LOG], "a", encoding="utf-8") as log:  # one short write: no line is torn
        log.write(f"{used.ru_utime + used.ru_stime:.3f}\t{output_of(command)}\n")
    return code


def measure(arguments, build):
    """Builds; the log, and seconds on the clock."""
    launcher = f"{sys.executable};{pathlib.Path(__file__).resolve()};--launch"
    log = build / "build_time.log"
    log.unlink(missing_ok=True)
    environment = dict(os.environ, **{LOG: str(log)})
    subprocess.run(["cmake", "--preset", arguments.preset, "-B", str(build),
                    *(f"-DCMAKE_{language}_{kind}_LAUNCHER={launcher}" for language in ("C", "CXX")
                      for kind in ("COMPILER", "LINKER"))],
                   cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
    log.unlink(missing_ok=True)  # of the configuration's own trials
    began = time.monotonic()
    subprocess.run(["cmake", "--build", str(build), "-j", str(arguments.jobs), "--target", *arguments.target],
                   env=environment, check=True, stdout=subprocess.DEVNULL)
    return log, time.monotonic() - began


def folder_of(output):
    """The folder of src/, or the test program, that an object belongs to; a kernel's levels count as one."""
    match = re.search(r"CMakeFiles/(?:hlosim_)?([^/]*?)(?:_v[234])?[.]dir/", output)
    if "cmake_pch" in output:
        return "common headers"
    return match.group(1) if match else "linking"


def report(log, slowest):
    """The tables, as text."""
    folders, files, total = collections.Counter(), [], 0.0
    counts = collections.Counter()
    for line in log.read_text(encoding="utf-8").splitlines():
        seconds, output = line.split("\t")
        total += float(seconds)
        folders[folder_of(output)] += float(seconds)
        counts[folder_of(output)] += 1
        files.append((float(seconds), output))
    print(f"{'folder':20} {'steps':>6} {'processor s':>12}")
    for folder, seconds in folders.most_common():
        print(f"{folder:20} {counts[folder]:6} {seconds:12.1f}")
    print(f"{'all':20} {len(files):6} {total:12.1f}\n")
    print(f"the {min(slowest, len(files))} slowest steps, in processor seconds")
    for seconds, output in sorted(files, reverse=True)[:slowest]:
        name = re.sub(r"CMakeFiles/([^/]*)[.]dir/", r"[\1] ", output)
        print(f"{seconds:8.1f}  {name}")


def main():
    if sys.argv[1:2] == ["--launch"]:
        return launch(sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", action="append")
    parser.add_argument("--preset", default="release")
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--slowest", type=int, default=20)
    parser.add_argument("--read", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.target = arguments.target or ["hlosim"]
    if arguments.read:
        report(arguments.read, arguments.slowest)
        return 0
    build = (arguments.build or pathlib.Path(tempfile.mkdtemp(prefix="hlosim-build-"))).absolute()
    try:
        log, elapsed = measure(arguments, build)
        report(log, arguments.slowest)
        print(f"\n{elapsed:.0f} s on the clock with {arguments.jobs} at once")
    finally:
        if not arguments.build:
            shutil.rmtree(build, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
