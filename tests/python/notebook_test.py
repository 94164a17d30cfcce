"""Runs a notebook from its first cell to its last.

  notebook_test.py NOTEBOOK      (exit code 77: no nbconvert, pandas or matplotlib here)
"""
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile

NOTEBOOK = pathlib.Path(sys.argv[1]).resolve()

for package in ("nbconvert", "ipykernel", "pandas", "matplotlib"):
    if importlib.util.find_spec(package) is None:
        print("skipped: no " + package)
        sys.exit(77)
with tempfile.TemporaryDirectory() as folder:
    # A kernel of this very interpreter, whatever others are installed.
    subprocess.run([sys.executable, "-m", "ipykernel", "install", "--prefix", folder, "--name", "python3"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    environment = dict(os.environ, JUPYTER_PATH=folder + "/share/jupyter", JUPYTER_RUNTIME_DIR=folder, IPYTHONDIR=folder)
    environment.pop("MPLBACKEND", None)
    done = subprocess.run([sys.executable, "-m", "nbconvert", "--to", "html", "--execute", str(NOTEBOOK), "--output-dir",
                           folder, "--ExecutePreprocessor.timeout=120"], env=environment)
    if done.returncode:
        sys.exit(1)
    page = (pathlib.Path(folder) / (NOTEBOOK.stem + ".html")).read_text()
    pictures = page.count("data:image/png") + page.count("image/png")
    assert pictures >= 4 and "transformer_block on TPU v5e" in page and "the same bits" in page, pictures
