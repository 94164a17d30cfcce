#!/usr/bin/env python3
"""JUnit XML and SARIF of `hlosim gate` against their published schemas, where those are at hand, and against the rules of
these schemas for what the gate writes, which stand below, everywhere.

  gate_schemas_test.py PROGRAM

Schemas are looked for in the folder $HLOSIM_SCHEMA_DIR: sarif-2.1.0.json (it is in the npm package
@microsoft/sarif-multitool-linux and in Schemata/ of oasis-tcs/sarif-spec), for which python3-jsonschema is needed, and
junit-10.xsd (of Jenkins' xunit plugin), for which xmllint is. What is missing is said and left out.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import gate_modules as modules

PROGRAM = sys.argv.pop(1)
SCHEMAS = pathlib.Path(os.environ.get("HLOSIM_SCHEMA_DIR", "/nowhere"))

# Of junit-10.xsd: element -> attributes that it has to have, that it may have, elements inside.
COUNTS = {"tests", "failures", "errors"}
JUNIT = {
    "testsuites": (set(), {"name", "time"} | COUNTS, {"testsuite"}),
    "testsuite": ({"name"} | COUNTS,
                  {"group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url"},
                  {"testsuite", "properties", "testcase", "system-out", "system-err"}),
    "testcase": ({"name"}, {"time", "classname", "group"}, {"skipped", "error", "failure", "system-out", "system-err"}),
    "failure": (set(), {"type", "message"}, set()),
    "error": (set(), {"type", "message"}, set()),
    "skipped": (set(), {"type", "message"}, set()),
}
JUNIT_TIME = re.compile(r"(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]*)?")

# Of the SARIF 2.1.0 schema, for the objects that the gate writes: members with their kinds; "!" has to be there. No
# other members are allowed, as in the schema; of those that it allows, the ones the gate has no use for are not here.
TEXT, WHOLE, BOOLEAN = str, int, bool
SARIF = {
    "log": {"$schema": TEXT, "!version": TEXT, "!runs": ["run"]},
    "run": {"!tool": "tool", "invocations": ["invocation"], "results": ["result"]},
    "tool": {"!driver": "component"},
    "component": {"!name": TEXT, "version": TEXT, "rules": ["rule"]},
    "rule": {"!id": TEXT, "shortDescription": "message"},
    "invocation": {"!executionSuccessful": BOOLEAN, "toolExecutionNotifications": ["notification"]},
    "notification": {"level": "level", "!message": "message", "locations": ["location"]},
    "result": {"ruleId": TEXT, "ruleIndex": "index", "level": "level", "!message": "message", "locations": ["location"],
               "relatedLocations": ["location"], "partialFingerprints": "texts"},
    "location": {"id": "index", "physicalLocation": "place", "message": "message"},
    "place": {"artifactLocation": "artifact", "region": "region"},
    "artifact": {"uri": TEXT},
    "region": {"startLine": "line"},
    "message": {"!text": TEXT},
}


def check_sarif(value, kind, path="log"):
    """Raises AssertionError with the path of what is wrong."""
    if isinstance(kind, list):
        assert isinstance(value, list), path
        # The arrays that the schema wants to have no equal items.
        if path.split(".")[-1] in ("rules", "toolExecutionNotifications", "relatedLocations"):
            texts = [json.dumps(item, sort_keys=True) for item in value]
            assert len(set(texts)) == len(texts), f"{path}: equal items"
        for index, item in enumerate(value):
            check_sarif(item, kind[0], f"{path}[{index}]")
    elif kind in (TEXT, WHOLE, BOOLEAN):
        assert type(value) is kind, f"{path}: {value!r}"
    elif kind == "level":
        assert value in ("none", "note", "warning", "error"), f"{path}: {value!r}"
    elif kind == "index":
        assert type(value) is int and value >= -1, f"{path}: {value!r}"
    elif kind == "line":
        assert type(value) is int and value >= 1, f"{path}: {value!r}"
    elif kind == "texts":
        assert all(type(key) is str and type(text) is str for key, text in value.items()), path
    else:
        members = {name.lstrip("!"): inner for name, inner in SARIF[kind].items()}
        assert isinstance(value, dict) and set(value) <= set(members), f"{path}: {sorted(value)}"
        assert all(name[1:] in value for name in SARIF[kind] if name.startswith("!")), f"{path}: {sorted(value)}"
        for name, inner in value.items():
            check_sarif(inner, members[name], f"{path}.{name}")


def check_junit(element):
    required, optional, inside = JUNIT[element.tag]
    assert required <= set(element.attrib) <= required | optional, (element.tag, element.attrib)
    if element.tag in ("testsuite", "testsuites") and "time" in element.attrib:
        assert JUNIT_TIME.fullmatch(element.get("time")), element.attrib
    if inside:
        assert not (element.text or "").strip(), element.tag
    for child in element:
        assert child.tag in inside, (element.tag, child.tag)
        assert not (child.tail or "").strip(), (element.tag, child.tag)
        check_junit(child)


class Schemas(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.path = pathlib.Path(self.temporary.name)

    def gate(self, *arguments):
        return subprocess.run([PROGRAM, "gate", *arguments], capture_output=True, text=True, cwd=self.path, check=False)

    def write(self, name, text):
        (self.path / name).write_text(text, encoding="utf-8")

    def outputs(self):
        """The files that every kind of outcome leads to: (what it is, JUnit, SARIF)."""
        more_work = f"planted = f32[512,512]{modules.TILED} exponential(fourth)"

        def edit(lines):
            lines.insert(modules.named(lines, "fourth") + 1, more_work)
            return [line.replace("dot(fourth, fetched)", "dot(planted, fetched)") for line in lines]

        def source(lines):
            return edit(lines)[:-1] + [lines[-1].replace(f"out = f32[512,512]{modules.TILED}", "out = f32[512,512]{1,0:T(8,1024)}")]

        self.write("hlosim-gate.yaml", "modules: ['*.hlo']\ndevices: [v5e, v4]\n")
        self.write("m.hlo", modules.layer())
        self.assertEqual(self.gate("--update-baseline").returncode, 0)
        steps = [("passed", lambda: None, ()),
                 ("regressed", lambda: self.write("m.hlo", modules.layer(edit)), ()),
                 ("with a source", lambda: self.write("m.hlo", modules.layer(source)), ()),
                 ("new", lambda: self.write("ne w & \"<é>'%.hlo", modules.layer()), ("--on-new=fail",)),
                 ("new, warned of", lambda: None, ("--on-new=warn",)),
                 ("not comparable", lambda: self.write("hlosim-gate.yaml", "modules: ['*.hlo']\ndevices: [v5e, v4]\nset: ['mxu.count=2']\n"),
                  ("--on-incomparable=fail",)),
                 ("wrong input", lambda: self.write("wrong.hlo", "HloModule \x01 <&> ]]>\n"), ()),
                 ("nothing but wrong input", lambda: [p.unlink() for p in self.path.glob("*.hlo") if p.name != "wrong.hlo"], ())]
        for what, prepare, options in steps:
            prepare()
            self.gate("--junit=j.xml", "--sarif=s.sarif", *options)
            yield what, self.path / "j.xml", self.path / "s.sarif"

    def test_rules_of_the_schemas(self):
        tags, rules = set(), set()
        for what, junit, sarif in self.outputs():
            with self.subTest(what):
                root = xml.etree.ElementTree.parse(junit).getroot()
                self.assertEqual(root.tag, "testsuites")
                check_junit(root)
                tags |= {element.tag for element in root.iter()}
                document = json.loads(sarif.read_text(encoding="utf-8"))
                check_sarif(document, "log")
                rules |= {result["ruleId"] for run in document["runs"] for result in run["results"]}
        self.assertEqual(tags, set(JUNIT))  # every element was seen
        self.assertLessEqual({"HLOSIM-TIME", "HLOSIM-NEW-MODULE", "HLOSIM-NOT-COMPARABLE"}, rules)

    def test_the_rules_refuse(self):
        good = {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x"}}, "results": [{"message": {"text": "x"}}]}]}
        check_sarif(good, "log")
        for wrong in ({"version": "2.1.0"}, {**good, "more": 1}, {**good, "runs": [{}]},
                      {**good, "runs": [{"tool": {"driver": {"name": 1}}}]}):
            with self.assertRaises(AssertionError):
                check_sarif(wrong, "log")
        for wrong in ("<testsuites><testcase name='a'/></testsuites>", "<testsuite name='a'/>",
                      "<testsuites>text</testsuites>", "<testsuites skipped='0'/>"):
            with self.assertRaises(AssertionError):
                check_junit(xml.etree.ElementTree.fromstring(wrong))

    def test_published_sarif_schema(self):
        schema = SCHEMAS / "sarif-2.1.0.json"
        if not schema.exists():
            self.skipTest(f"no {schema}: set HLOSIM_SCHEMA_DIR")
        try:
            import jsonschema
        except ImportError:
            self.skipTest("no python3-jsonschema")
        document = json.loads(schema.read_text(encoding="utf-8"))
        validator = jsonschema.validators.validator_for(document)
        validator.check_schema(document)
        for what, _, sarif in self.outputs():
            with self.subTest(what):
                errors = list(validator(document).iter_errors(json.loads(sarif.read_text(encoding="utf-8"))))
                self.assertEqual([f"{list(e.absolute_path)}: {e.message}" for e in errors], [])

    def test_published_junit_schema(self):
        schema = SCHEMAS / "junit-10.xsd"
        if not schema.exists():
            self.skipTest(f"no {schema}: set HLOSIM_SCHEMA_DIR")
        if not shutil.which("xmllint"):
            self.skipTest("no xmllint")
        for what, junit, _ in self.outputs():
            with self.subTest(what):
                run = subprocess.run(["xmllint", "--noout", "--schema", str(schema), str(junit)], capture_output=True, text=True,
                                     check=False)
                self.assertEqual(run.returncode, 0, run.stderr)


if __name__ == "__main__":
    unittest.main()
