"""tools/check_dependencies finds what is planted, and nothing else."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_dependencies"

ORDER = "foreach(district base ir apps)\n"
BASE, IR, APPS = (f"src/{district}/CMakeLists.txt" for district in ("base", "ir", "apps"))

CLEAN = {
    "CMakeLists.txt": ORDER,
    BASE: "hlosim_library(base fmt::fmt)\nhlosim_library(json base)\n",
    IR: "hlosim_library(hlo base)\nhlosim_library(ops hlo)\n",
    APPS: "hlosim_library(cli ops)\n",
    "src/base/text.h": "// Text.\n#pragma once\n#include <string>\n",
    "src/base/json/tree.cc": '#include "base/text.h"\n',
    "src/ir/hlo/opcode.h": '#pragma once\n#include "base/text.h"\nenum class Opcode { kAdd };\n',
    "src/ir/hlo/parser.cc": '#include "hlo/opcode.h"\n#include <boost/graph/graph_traits.hpp>\n',
    "src/ir/ops/dot.cc": '#include <Eigen/Core>\n#include "hlo/opcode.h"\n'
                         'int f(Opcode o) { switch (o) { case Opcode::kAdd: return 1; } }\n',
    "src/ir/ops/dot.h": "/* What #include \"cli/x.h\" would be wrong. */\n#pragma once\n// switch (opcode)\n",
    "src/apps/cli/run.cc": '#include "ops/dot.h"\n',
    "src/apps/main/main.cc": '#include "ops/dot.h"\n',
}


def check(changes):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {**CLEAN, **changes}.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        result = subprocess.run([sys.executable, TOOL, folder], capture_output=True, text=True)
        assert result.returncode == (1 if result.stdout else 0), result
        return result.stdout.splitlines()


class CheckDependencies(unittest.TestCase):
    def test_clean(self):
        self.assertEqual(check({}), [])

    def test_rooms_of_one_district(self):
        self.assertEqual(check({"src/ir/hlo/names.cc": '#include "ops/dot.h"\n'}),
                         [f"src/ir/hlo/names.cc:1: the line of hlo in {IR} does not name ops: it may not include ops/dot.h"])

    def test_rooms_of_other_districts(self):
        self.assertEqual(check({"src/base/text.h": '#pragma once\n\n#include "hlo/opcode.h"\n',
                                "src/ir/hlo/opcode.h": "#pragma once\n", "src/ir/hlo/parser.cc": '#include "base/text.h"\n'}),
                         [f"src/base/text.h:3: the line of base in {BASE} does not name hlo: it may not include hlo/opcode.h"])

    def test_include_names(self):
        form = 'is not of the form "room/file.h" with a room of base, json, hlo, ops, cli'
        self.assertEqual(check({"src/ir/ops/a.cc": '#include "dot.h"\n#include "opps/dot.h"\n#include "ops/dto.h"\n'
                                                   '#include "ir/ops/dot.h"\n'}),
                         [f'src/ir/ops/a.cc:1: "dot.h" {form}', f'src/ir/ops/a.cc:2: "opps/dot.h" {form}',
                          'src/ir/ops/a.cc:3: "ops/dto.h" does not exist', f'src/ir/ops/a.cc:4: "ir/ops/dot.h" {form}'])

    def test_a_room_at_the_top_of_its_district(self):
        self.assertEqual(check({"src/base/lists/list.h": "#pragma once\n", "src/ir/hlo/name.cc": '#include "base/lists/list.h"\n'}), [])
        self.assertEqual(check({"src/ir/hlo/name.cc": '#include "base/json/tree.h"\n', "src/base/json/tree.h": "#pragma once\n"}),
                         ['src/ir/hlo/name.cc:1: "base/json/tree.h" does not exist'])

    def test_files_of_no_room(self):
        self.assertEqual(check({"src/misc/a.cc": "\n"}),
                         ["src/misc/a.cc:1: of no room: no hlosim_library() has its folder",
                          "src/misc:1: no district that CMakeLists.txt names"])
        self.assertEqual(check({"src/ir/misc/a.cc": "\n"}),
                         ["src/ir/misc/a.cc:1: of no room: no hlosim_library() has its folder"])
        self.assertEqual(check({"src/ir/a.cc": "\n"}),
                         ["src/ir/a.cc:1: of no room: no hlosim_library() has its folder"])

    def test_districts(self):
        self.assertEqual(check({"CMakeLists.txt": ORDER.replace(" ir", " ir tune")}),
                         ["src/tune/CMakeLists.txt:1: no hlosim_library()"])
        self.assertEqual(check({APPS: CLEAN[APPS] + "hlosim_library(ops)\n"}), [f"{APPS}:2: ops is a room of ir already"])
        self.assertEqual(check({APPS: CLEAN[APPS] + "hlosim_library(ir)\n"}), [f"{APPS}:2: ir is the name of another district"])

    def test_system_headers(self):
        self.assertEqual(check({"src/base/limits.h": "#pragma once\n"}),
                         ["src/base/limits.h:1: src/base is an include root: the header hides <limits.h>"])
        self.assertEqual(check({"src/ir/hlo/limits.h": "#pragma once\n"}), [])

    def test_heavy_headers(self):
        for heavy in ("Eigen/Dense", "unsupported/Eigen/CXX11/Tensor", "nlohmann/json.hpp", "yaml-cpp/yaml.h", "CLI/CLI.hpp"):
            self.assertEqual(check({"src/ir/ops/dot.h": f"#pragma once\n#include <{heavy}>\n"}),
                             [f"src/ir/ops/dot.h:2: <{heavy}> in a header; include it in a .cc file only"])

    def test_pragma_once(self):
        self.assertEqual(check({"src/ir/ops/dot.h": "#include <string>\n"}),
                         ["src/ir/ops/dot.h:1: a header starts with #pragma once"])

    def test_switch(self):
        message = "src/ir/hlo/parser.cc:2: a switch over opcodes outside of ops; ask the opcode table"
        for planted in ("switch (instruction.opcode) {", "switch (i.opcode()) {"):
            self.assertEqual(check({"src/ir/hlo/parser.cc": f"\nvoid f() {{ {planted} }}\n"}), [message], planted)
        named = {"tools/opcodes_named.txt": "hlo/parser.cc: Add - even where it may be named\n"}
        for planted in ("switch (x) { case Opcode::kAdd: ; }", "switch (x) { case hlosim::Opcode::kAdd: ; }"):
            self.assertEqual(check({**named, "src/ir/hlo/parser.cc": f"\nvoid f() {{ {planted} }}\n"}), [message], planted)
        self.assertEqual(check({"src/ir/hlo/parser.cc": "void f() { switch (table[i.opcode].rules.fusion) {} }\n"}), [])
        self.assertEqual(check({"src/ir/hlo/parser.cc": 'const char* x = "//"; void f() { switch (opcode) {} }\n'}),
                         ["src/ir/hlo/parser.cc:1: a switch over opcodes outside of ops; ask the opcode table"])

    def test_named_opcodes(self):
        def message(what, line=1):
            return (f"src/ir/hlo/parser.cc:{line}: names {what}; what an opcode is to others is a column of its row, "
                    "and what a file does with single ones stands in tools/opcodes_named.txt")
        planted = {"src/ir/hlo/parser.cc": "bool f(Opcode o) { return o == Opcode::kAdd; }\nbool g(Opcode o) { return o != Opcode::kAdd; }\n"}
        self.assertEqual(check(planted), [message("Opcode::kAdd")])
        self.assertEqual(check({"src/ir/hlo/parser.cc": "// Opcode::kAdd\nusing enum Opcode;\n"}), [message("using enum Opcode", 2)])
        allow = "# Why.\n\nhlo/parser.cc: Add - writes sums\n"
        self.assertEqual(check({**planted, "tools/opcodes_named.txt": allow}), [])
        self.assertEqual(check({**planted, "tools/opcodes_named.txt": allow.replace("Add", "Add Dot")}),
                         ["tools/opcodes_named.txt:3: hlo/parser.cc names no Dot"])
        self.assertEqual(check({"tools/opcodes_named.txt": "hlo/lexer.cc: Add - writes sums\nhlo/parser.cc: Add\n"}),
                         ["tools/opcodes_named.txt:2: not of the form FILE: OPCODE … - why",
                          "tools/opcodes_named.txt:1: hlo/lexer.cc does not exist"])

    def test_timing_links_nothing_that_runs(self):
        planted = {BASE: CLEAN[BASE] + "hlosim_library(threads base)\n", IR: CLEAN[IR].replace("(ops hlo", "(ops hlo threads"),
                   "src/base/threads/parallel.cc": '#include "base/text.h"\n', "src/base/threads/parallel.h": "#pragma once\n",
                   "src/ir/ops/sums.cc": '#include "threads/parallel.h"\n'}
        self.assertEqual(check(planted),
                         [f"{IR}:2: ops is linked with threads: times need nothing that runs modules or reads files"])

    def test_circle(self):
        self.assertEqual(check({"src/base/text.h": '#pragma once\n#include "base/b.h"\n',
                                "src/base/b.h": '#pragma once\n#include "base/text.h"\n'}),
                         ["src/base/b.h:1: headers include each other in a circle: base/b.h -> base/text.h -> base/b.h"])

    def test_edges(self):
        self.assertEqual(check({IR: CLEAN[IR].replace("(ops hlo", "(ops base hlo PRIVATE yaml-cpp")}),
                         [f"{IR}:2: ops names base and includes nothing of it"])
        self.assertEqual(check({IR: CLEAN[IR].replace("(hlo base", "(hlo base ops opps")}),
                         [f"{IR}:1: hlo names ops, which is no room before it",
                          f"{IR}:1: hlo names opps, which is no room before it",
                          f"{IR}:1: hlo names ops and includes nothing of it",
                          f"{IR}:1: hlo names opps and includes nothing of it"])

    def test_order_of_districts(self):
        planted = {BASE: CLEAN[BASE].replace("(json base", "(json base hlo"), "src/base/json/tree.cc":
                   '#include "base/text.h"\n#include "hlo/opcode.h"\n'}
        self.assertEqual(check(planted), [f"{BASE}:2: json names hlo of ir, a district after base"])
        self.assertEqual(check({**planted, "CMakeLists.txt": ORDER.replace("base ir", "ir base")}),
                         [f"{IR}:1: hlo names base of base, a district after ir"])

    def test_sizes_and_names(self):
        self.assertEqual(check({f"src/ir/ops/file{i}.cc": "\n" for i in range(69)}),
                         ["src/ir/ops:1: 71 files of code at its top, more than 70"])
        self.assertEqual(check({f"src/ir/ops/part/file{i}.cc": "\n" for i in range(69)}), [])
        self.assertEqual(check({"src/ir/ops/long.cc": "\n" * 12000}), ["src/ir/ops:1: 12006 lines, more than 12000"])
        self.assertEqual(check({"src/ir/ops/text.cc": "\n"}),
                         ["src/ir/ops/text.cc:1: base has a file named text as well; give one of them another name"])

    def page(self, **changes):
        parts = {"districts": "  base\n  ir --> base\n  apps --> ir\n", "rooms": "  hlo\n  ops --> hlo\n  sums --> hlo\n",
                 "doors": "`hlo/opcode.h`", **changes}
        page = ("<!-- districts, drawn by tools/check_dependencies --draw -->\n"
                f"```mermaid\ngraph BT\n{parts['districts']}```\n<!-- end -->\n")
        sections = ("## base\n\nDoors: `base/text.h`.\n\n## ir\n\n"
                    "<!-- rooms of ir, drawn by tools/check_dependencies --draw -->\n"
                    f"```mermaid\ngraph RL\n{parts['rooms']}```\n<!-- end -->\n\n"
                    f"Doors: {parts['doors']}.\n\n## apps\n\nText.\n")
        return check({"docs/architecture.md": page, "docs/rooms.md": sections, IR: CLEAN[IR] + "hlosim_library(sums hlo)\n",
                      "src/ir/sums/sum.cc": '#include "hlo/opcode.h"\n',
                      "src/apps/cli/run.cc": '#include "ops/dot.h"\n#include "hlo/opcode.h"\n',
                      APPS: "hlosim_library(cli hlo ops)\n"})

    def test_page(self):
        self.assertEqual(self.page(), [])
        wrong = ":1: a picture is not that of the CMakeLists.txt; run tools/check_dependencies --draw"
        self.assertEqual(self.page(districts="  base\n  ir --> base\n  apps --> base\n"), ["docs/architecture.md" + wrong])
        self.assertEqual(self.page(rooms="  hlo\n  ops --> hlo\n  sums --> ops\n"), ["docs/rooms.md" + wrong])
        self.assertEqual(self.page(doors="`ops/dot.h`, `hlo/name.h`"),
                         ["docs/rooms.md:5: hlo/name.h is no header of ir that another district includes"])
        self.assertEqual(self.page(doors="none"), ["docs/rooms.md:5: no doors of ir"])
        self.assertEqual(check({"docs/architecture.md": "", "docs/rooms.md": ""})[:3],
                         ["docs/architecture.md:1: no picture of the districts", "docs/rooms.md:1: no section about base",
                          "docs/rooms.md:1: no section about ir"])

    def test_file_tests_lie_as_the_sources(self):
        self.assertEqual(check({"tests/filetests/hlo/errors/a.hlo": "HloModule m\n"}), [])
        self.assertEqual(check({"tests/filetests/bad_hlo/a.hlo": "HloModule m\n"}),
                         ["tests/filetests/bad_hlo:1: there is no room bad_hlo"])

    def test_two_types_of_one_name(self):
        planted = {"src/ir/hlo/value.h": "#pragma once\nnamespace hlosim {\nstruct Value final : Base<int> { int x; };\n}\n",
                   "src/ir/ops/sum.cc": "namespace hlosim {\n\nenum class Value : uint8_t { kA };\n}\n"}
        self.assertEqual(check(planted), ["src/ir/ops/sum.cc:3: hlosim::Value is a type at src/ir/hlo/value.h:3 as well; "
                                          "give one of them another name"])
        for harmless in ("namespace hlosim {\nnamespace {\nstruct Value {};\n}\n}", "struct Value {};",
                         "namespace hlosim { struct Value; template <> struct Value<int> {}; struct Other::Value {}; }",
                         "namespace hlosim { struct Other { struct Value {}; }; void f() { struct Value {}; } }",
                         "namespace hlosim { template <class Value> struct Other {}; Value f() { return Value{}; } }",
                         'namespace hlosim { const char* text = "} struct Value {"; /* struct Value { */ }',
                         "namespace hlosim::other { struct Value {}; }"):
            self.assertEqual(check({**planted, "src/ir/ops/sum.cc": harmless + "\n"}), [], harmless)


if __name__ == "__main__":
    unittest.main()
