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
        self.assertEqual(check({}), (0, "2 of 2 headers compile alone, 2 compiled here\n"))

    def test_an_include_is_missing(self):
        code, text = check({"src/ir/hlo/bare.h": "#pragma once\ninline std::string bare() { return {}; }\n"})
        self.assertEqual(code, 1)
        self.assertIn("hlo/bare.h doesn't compile alone:\n", text)
        self.assertIn("'string' in namespace 'std' does not name a type", text.replace("‘", "'").replace("’", "'"))
        self.assertIn("2 of 3 headers compile alone, 3 compiled here\n", text)
        self.assertNotIn("name.h doesn't", text)

    def test_a_warning_is_an_error(self):
        self.assertEqual(check({"src/base/nothing.h": "#pragma once\ninline int nothing() {}\n"})[0], 1)

    def test_a_source_compiles_its_header(self):
        own = {"src/ir/hlo/bare.h": "#pragma once\nno_such_type bare();\n", "src/ir/hlo/bare.cc": '#include "hlo/bare.h"\n'}
        self.assertEqual(check(own), (0, "3 of 3 headers compile alone, 2 compiled here\n"))
        self.assertEqual(check(own, "hlo/bare.h")[0], 1)
        kernel = {"src/ir/hlo/bare.h": own["src/ir/hlo/bare.h"], "src/ir/hlo/bare.kernel.cc": own["src/ir/hlo/bare.cc"]}
        self.assertEqual(check(kernel)[0], 1)

    def test_precompiled_headers_hide_nothing(self):
        hidden = {"cmake/hlosim_common.h": '#include <string>\n#include <vector>\n#include "base/text.h"\n',
                  "src/base/text.h": CLEAN["src/base/text.h"] + "struct Text {};\n",
                  "src/ir/hlo/bare.cc": '#include "hlo/bare.h"\n'}

        def of(text):
            return check({**hidden, "src/ir/hlo/bare.h": "#pragma once\n" + text})

        self.assertEqual(of('#include <string_view>\nstd::string_view bare();  // a std::vector\n')[0], 0)
        self.assertEqual(of('#include "hlo/name.h"\nstd::string bare(Text);\n')[0], 0)
        self.assertIn("it uses std::vector and doesn't include vector\n", of('#include "hlo/name.h"\nstd::vector<int> bare();\n')[1])
        self.assertIn("it uses Text and doesn't include base/text.h\n", of("#include <string>\nText bare();\n")[1])
        self.assertIn("2 of 3 headers compile alone, 2 compiled here\n", of("std::string bare();\n")[1])

    def test_a_precompiled_header_without_names(self):
        self.assertEqual(check({"cmake/hlosim_common.h": "#include <regex>\n"})[0], 1)

    def test_named_ones_only(self):
        wrong = {"src/ir/hlo/bare.h": "#pragma once\nstd::string bare();\n"}
        self.assertEqual(check(wrong, "hlo/name.h"), (0, "1 of 1 headers compile alone, 1 compiled here\n"))
        self.assertEqual(check(wrong, "hlo/bare.h")[0], 1)


if __name__ == "__main__":
    unittest.main()
