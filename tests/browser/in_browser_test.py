#!/usr/bin/env python3
"""The page of scripts/wasm in a headless Chromium: programs are dropped on it, and their reports held against the program's.

  in_browser_test.py PROGRAM PAGE.html [UNITTEST ARGUMENT...]

Exit code 77, which CTest takes as skipped: no Chromium here, no PAGE, or one that is older than PROGRAM. Modules are those
of the repository and, where data of others is there (CONTRIBUTING.md), 100 of its corpus and a training step.
"""
import base64
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chromium

PROGRAM, PAGE = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
del sys.argv[1:3]
ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("HLOSIM_SHARED_DIR", ROOT.parent / "shared"))
DEVICES = ("v2", "v3", "v4", "v5e", "v5p", "v6e", "v7x")
OF_CORPUS = 100

PART = re.compile(r'<script type="text/plain" class="data" data-module="(\d+)" data-part="(\w+)" data-title="[^"]*">([^<]*)</script>')

# Runs the page's own program on a file, and gives what it answers.
CALL = """(async () => {
  const text = atob(%s), bytes = Uint8Array.from(text, (c) => c.charCodeAt(0));
  const answer = await program.call(["page", %s, %s, ""], bytes);
  return {code: answer.code, err: answer.err, page: await answer.out.text()};
})()"""


def parts_of(page):
    """What a page holds of each module, by name: JSON and text."""
    return {(number, name): gzip.decompress(base64.b64decode(packed)).decode() for number, name, packed in PART.findall(page)}


def own_modules():
    files = [*ROOT.glob("examples/*.hlo"), *ROOT.glob("examples/*.mlir"), *ROOT.glob("tests/samples/*.hlo"),
             *ROOT.glob("tests/samples/*.mlir")]
    return sorted(files)


def modules_of_corpus():
    files = sorted((SHARED / "corpus/ok").rglob("*.hlo"))
    return files[::max(len(files) // OF_CORPUS, 1)][:OF_CORPUS]


class InBrowser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="hlosim-in-browser-")
        cls.browser = chromium.Chromium.start()
        cls.page = cls.browser.open(PAGE.as_uri(), until="document.documentElement?.dataset.state === 'ready'", seconds=300)

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        cls.folder.cleanup()

    def tearDown(self):
        self.assertEqual(self.page.problems(), [])
        requests = self.page.requests()
        self.assertEqual([url for url in requests if not url.startswith(("file:", "data:", "blob:"))], [])
        self.assertEqual(len([url for url in requests if url.startswith("file:")]), 1)

    def by_program(self, file, device):
        """The parts of the page that the program writes, or its error."""
        out = pathlib.Path(self.folder.name) / "native.html"
        done = subprocess.run([PROGRAM, "report", f"--device={device}", "--format=html", "-o", out, file.name],
                              capture_output=True, text=True, cwd=file.parent)
        return done.returncode, done.stderr, parts_of(out.read_text(encoding="utf-8")) if done.returncode == 0 else {}

    def by_page(self, file, device):
        answer = self.page.evaluate(CALL % (json.dumps(base64.b64encode(file.read_bytes()).decode()), json.dumps(file.name), json.dumps(device)))
        return answer["code"], answer["err"], parts_of(answer["page"])

    def compare(self, files):
        differ = []
        for number, file in enumerate(files):
            device = DEVICES[number % len(DEVICES)]
            code, err, expected = self.by_program(file, device)
            found_code, found_err, found = self.by_page(file, device)
            same = (code, expected) == (found_code, found) and (code == 0 or err == found_err)
            if not same:
                differ.append((file.name, device, first_difference(expected, found) or (code, err, found_code, found_err)))
        self.assertEqual(differ, [], f"{len(differ)} of {len(files)} differ")

    # ── The same reports ──

    def test_own_modules(self):
        files = own_modules()
        self.assertGreater(len(files), 20)
        self.compare(files)

    def test_corpus(self):
        files = modules_of_corpus()
        if not files:
            self.skipTest("no corpus here")
        self.assertEqual(len(files), OF_CORPUS)
        self.compare(files)

    def test_training_step(self):
        file = SHARED / "measured/profiles/programs/llama8b_v6e.hlo"
        if not file.exists():
            self.skipTest("no step here")
        code, _, expected = self.by_program(file, "v6e-8")
        found_code, _, found = self.by_page(file, "v6e-8")
        self.assertEqual((code, found_code), (0, 0))
        self.assertIsNone(first_difference(expected, found))

    # ── Files and what they are answered with ──

    def test_devices_are_those_that_exist(self):
        offered = self.page.evaluate("[...document.getElementById('device').options].map((one) => one.value)")
        self.assertEqual(offered, list(DEVICES))

    def drop(self, path, until):
        self.page.evaluate("document.documentElement.dataset.state = ''")
        data = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.page.call("Input.dispatchDragEvent", type=kind, x=600, y=500, data=data)
        self.page.wait(f"document.documentElement.dataset.state === '{until}'", seconds=300)

    def choose(self, device):
        self.page.evaluate(f"document.getElementById('type').value = {json.dumps(device)}")

    def test_dropped_file_shows_its_report(self):
        file = ROOT / "examples/mlp.hlo"
        self.choose("v5e")
        self.drop(file, "done")
        self.assertFalse(self.page.evaluate("document.getElementById('report').hidden"))
        frame = "document.getElementById('report').contentWindow"
        self.page.wait(f"{frame}.document.documentElement.dataset.ready === 'true'")
        _, _, expected = self.by_program(file, "v5e")
        report = json.loads(expected["0", "report"])
        self.assertEqual(self.page.evaluate(f"{frame}.hlosim.data.report.time.total_ps"), report["time"]["total_ps"])
        self.page.evaluate(f"{frame}.document.querySelector('#tab-timeline').click()")
        self.page.wait(f"{frame}.hlosim.current.id === 'timeline' && {frame}.location.hash.includes('timeline')")
        # Another device: the same file again.
        self.choose("v6e")
        self.page.evaluate("document.documentElement.dataset.state = ''; document.querySelector('#options button').click()")
        self.page.wait("document.documentElement.dataset.state === 'done'")
        self.assertIn("v6e", self.page.evaluate("document.getElementById('status').textContent"))

    def problem_of(self, name, content):
        path = pathlib.Path(self.folder.name) / name
        path.write_bytes(content)
        self.drop(path, "failed")
        self.assertTrue(self.page.evaluate("document.getElementById('report').hidden"))
        return self.page.evaluate("document.getElementById('problems').textContent")

    def test_errors_have_file_line_and_column(self):
        self.choose("v5e")
        text = "HloModule m\n\nENTRY e {\n  a = f32[4] parameter(0)\n  ROOT b = f32[4] add(a, c)\n}\n"
        problem = self.problem_of("wrong.hlo", text.encode())
        path = pathlib.Path(self.folder.name) / "wrong.hlo"
        self.assertEqual(problem, self.by_program(path, "v5e")[1])
        self.assertTrue(problem.startswith("wrong.hlo:5:"), problem)

    def test_wrong_device(self):
        self.choose("H100")
        self.assertIn("hlosim models TPUs only", self.problem_of("m.hlo", (ROOT / "examples/mlp.hlo").read_bytes()))

    def test_packed_files(self):
        self.choose("v5e")
        path = pathlib.Path(self.folder.name) / "mlp.hlo.gz"
        path.write_bytes(gzip.compress((ROOT / "examples/mlp.hlo").read_bytes()))
        self.drop(path, "done")
        self.assertIn("Zstandard is not read in a browser", self.problem_of("m.hlo.zst", b"\x28\xb5\x2f\xfd\x04\x00"))

    def test_protos_are_named(self):
        proto = pathlib.Path(self.folder.name) / "mlp.hlo.pb"
        subprocess.run([PROGRAM, "print", "--format=pb", "-o", proto, ROOT / "examples/mlp.hlo"], check=True)
        self.choose("v5e")
        self.assertIn("HLO protos are not read in a browser", self.problem_of("mlp.hlo.pb", proto.read_bytes()))


def first_difference(expected, found):
    """Where two pages' parts differ first; None: nowhere."""
    for key in expected.keys() | found.keys():
        one, other = expected.get(key), found.get(key)
        if one == other:
            continue
        if one is None or other is None:
            return key, "is missing"
        at = next((i for i, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))
        return key, one[max(at - 60, 0):at + 60], other[max(at - 60, 0):at + 60]
    return None


def main():
    if chromium.find() is None:
        print("no Chromium")
        sys.exit(77)
    if not PAGE.exists() or PAGE.stat().st_mtime < PROGRAM.stat().st_mtime:
        print(f"{PAGE} is {'older than the program' if PAGE.exists() else 'not there'}: scripts/wasm makes it")
        sys.exit(77)
    unittest.main()


if __name__ == "__main__":
    main()
