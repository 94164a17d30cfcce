"""tools/shared_tests names every test that reads from the shared folder, and few others.

  shared_tests_test.py TESTS...   the names of tests that have to be named, then those that have not, after --
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
text = subprocess.run([ROOT / "tools" / "shared_tests"], check=True, capture_output=True, text=True).stdout.strip()
pattern = re.compile(text)
wanted, others = (part.split() for part in " ".join(sys.argv[1:]).split("--"))
wrong = [name for name in wanted if not pattern.search(name)] + [name for name in others if pattern.search(name)]
# CMake's regular expressions have few groups, no classes with a backslash and no lookahead.
if text.count("(") != 1 or not wanted or not others or re.search(r"\\[^.]", text):
    wrong.append(text[:100])
print("\n".join(wrong))
sys.exit(bool(wrong))
