"""tools/check_headers finds what is planted, and nothing else.

  check_headers_test.py COMPILER
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_headers"
COMPILER = sys.argv.pop(1)

CLEAN = {
    "CMakeLists.txt": "foreach(district base ir apps)\n",
    "src/base/CMakeLists.txt": "hlosim_library(base)\n",
    "src/ir/CMakeLists.txt": "hlosim_library(hlo base)\n",
    "src/apps/CMakeLists.txt": "hlosim_library(cli base)\n",
    "src/apps/python/module.h": "#pragma once\n#include <no_such_header.h>\n",  # there is no HLOSIM_PYTHON
    "src/base/text.h": "#pragma once\n#include <string>\ninline std::string text() { return {}; }\n",
    "src/ir/hlo/name.h": '#pragma once\n#include "base/text.h"\ninline std::string name() { return text(); }\n',
}


def check(changes, *named):
    with tempfile.TemporaryDirectory() as scratch:
        root = pathlib.Path(scratch)
        for name, text in {**CLEAN, **changes}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        command = f"{COMPILER} -std=c++20 -I{root}/src -I{root}/src/ir -Wall -Werror -o x.o -c headers_alone.cc"
        pathlib.Path(scratch, "compile_commands.json").write_text(
            json.dumps([{"directory": scratch, "file": "other.cc", "command": "false -c other.cc"},
                        {"directory": scratch, "file": "headers_alone.cc", "command": command}]))
        result = subprocess.run([sys.executable, TOOL, root, scratch, *named], capture_output=True, text=True)
        return result.returncode, result.stdout


class CheckHeaders(unittest.TestCase):
    def test_clean(self):
        self.assertEqual(check({}), (0, "2 of 2 headers compile alone\n"))

    def test_an_include_is_missing(self):
        code, text = check({"src/ir/hlo/bare.h": "#pragma once\ninline std::string bare() { return {}; }\n"})
        self.assertEqual(code, 1)
        self.assertIn("hlo/bare.h doesn't compile alone:\n", text)
        self.assertIn("'string' in namespace 'std' does not name a type", text.replace("‘", "'").replace("’", "'"))
        self.assertIn("2 of 3 headers compile alone\n", text)
        self.assertNotIn("name.h doesn't", text)

    def test_a_warning_is_an_error(self):
        self.assertEqual(check({"src/base/nothing.h": "#pragma once\ninline int nothing() {}\n"})[0], 1)

    def test_named_ones_only(self):
        wrong = {"src/ir/hlo/bare.h": "#pragma once\nstd::string bare();\n"}
        self.assertEqual(check(wrong, "hlo/name.h"), (0, "1 of 1 headers compile alone\n"))
        self.assertEqual(check(wrong, "hlo/bare.h")[0], 1)


if __name__ == "__main__":
    unittest.main()
