#!/usr/bin/env python3
"""The Debian packages hold the program with its manual, and the package for Python; what is unpacked from them runs.

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


def check_python(package, scratch):
    """Python finds the package where Debian's lie, and its plugin of pytest."""
    assert "python3 (>= 3." in output("dpkg-deb", "-f", package, "Depends")
    output("dpkg-deb", "-x", package, f"{scratch}/python")
    folder = f"{scratch}/python/usr/lib/python3/dist-packages"
    said = subprocess.run(["/usr/bin/python3", "-c", "import hlosim, importlib.metadata as m\n"
                           "print(hlosim.__file__, m.version('hlosim'), hlosim.Device('v5e').name)"],
                          env={"PYTHONPATH": folder}, capture_output=True, text=True, check=True).stdout
    assert said == f"{folder}/hlosim/__init__.py {VERSION} TPU v5e\n", said
    assert "hlosim.pytest_plugin" in pathlib.Path(f"{folder}/hlosim-{VERSION}.dist-info/entry_points.txt").read_text()


def main():
    for command, package in (("dpkg-shlibdeps", "dpkg-dev"), ("file", "file")):
        if not shutil.which(command):
            print("skipped: no " + package)
            return 77
    with tempfile.TemporaryDirectory() as scratch:
        output("cpack", "--config", f"{BUILD}/CPackConfig.cmake", "-B", scratch)
        packages = list(pathlib.Path(scratch).glob("hlosim_*.deb"))
        assert len(packages) == 1, packages
        for package in pathlib.Path(scratch).glob("python3-hlosim_*.deb"):
            check_python(package, scratch)
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
