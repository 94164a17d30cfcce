#!/usr/bin/env python3
"""The Debian package holds the program with its manual, and what is unpacked from it runs.

  deb_test.py BUILD VERSION      (exit code 77: no dpkg-dev or file here)
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

BUILD, VERSION = sys.argv[1:]
EXPECTED = ("usr/bin/hlosim", "usr/share/man/man1/hlosim.1", "usr/share/bash-completion/completions/hlosim",
            "usr/share/zsh/vendor-completions/_hlosim", "usr/share/fish/vendor_completions.d/hlosim.fish",
            "usr/share/hlosim/configs/v5e.yaml", "usr/share/doc/hlosim/docs/gate.md",
            "usr/share/doc/hlosim/examples/mlp.hlo")


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main():
    for command, package in (("dpkg-shlibdeps", "dpkg-dev"), ("file", "file")):
        if not shutil.which(command):
            print("skipped: no " + package)
            return 77
    with tempfile.TemporaryDirectory() as scratch:
        output("cpack", "--config", f"{BUILD}/CPackConfig.cmake", "-B", scratch)
        packages = list(pathlib.Path(scratch).glob("*.deb"))
        assert len(packages) == 1, packages
        listed = output("dpkg-deb", "-c", packages[0])
        missing = [name for name in EXPECTED if f" ./{name}\n" not in listed]
        assert not missing, missing
        assert not [line for line in listed.splitlines() if line.endswith((".a", ".h", ".cc"))], listed
        assert output("dpkg-deb", "-f", packages[0], "Version").strip() == VERSION
        assert "libc6" in output("dpkg-deb", "-f", packages[0], "Depends")
        output("dpkg-deb", "-x", packages[0], f"{scratch}/root")
        program = f"{scratch}/root/usr/bin/hlosim"
        assert output(program, "--version") == f"hlosim {VERSION}\n"
        report = output(program, "--device=v5e", f"{scratch}/root/usr/share/doc/hlosim/examples/mlp.hlo")
        assert report.startswith("mlp on TPU v5e\n"), report
    return 0


if __name__ == "__main__":
    sys.exit(main())
