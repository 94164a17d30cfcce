#!/usr/bin/env python3
"""The page of `hlosim report --format=html` in a headless Chromium: clicked, typed into, zoomed, and held against the JSON.

  html_report_test.py PROGRAM [UNITTEST ARGUMENT...]

Exit code 77: no Chromium here (CTest takes it as skipped). HLOSIM_CHROMIUM names one elsewhere; HLOSIM_SCREENSHOTS a folder
for pictures of what the tests saw last.
"""
import base64
import hashlib
import html
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chromium

PROGRAM = sys.argv.pop(1)
ROOT = pathlib.Path(__file__).resolve().parents[2]
SCREENSHOTS = os.environ.get("HLOSIM_SCREENSHOTS")

EXPANDED = """(() => {
  const tables = new Set(["instructions", "copies", "collectives", "other_transfers", "loops", "padding", "assumptions", "keys_without_effect", "flags_not_given"]);
  const out = {};
  for (const [key, value] of Object.entries(hlosim.data.report)) {
    if (key === "page") continue;
    if (!tables.has(key)) { out[key] = value; continue; }
    out[key] = Array.from({length: value.rows}, (_, i) => Object.fromEntries(Object.entries(value.columns).map(([k, v]) => [k, v[i]])));
  }
  return out;
})()"""

HOSTILE = '</script><script>window.hacked=1</script><img src=x onerror=\\"window.hacked=2\\"> & \\\'é\u2028"'


def significant(value):
    """Four digits, as JavaScript writes them."""
    text = f"{float(f'{value:.3e}'):.10f}".rstrip("0").rstrip(".")
    return text


def scaled(value, base, units):
    step = 0
    while step + 1 < len(units) and abs(value) >= base * 0.99995:
        value /= base
        step += 1
    return f"{significant(value)} {units[step]}"


def time_text(ps):
    return scaled(ps, 1000, ["ps", "ns", "µs", "ms", "s"])


def bytes_text(size):
    return scaled(size, 1024, ["B", "KiB", "MiB", "GiB", "TiB"])


def run(*arguments):
    result = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)
    if result.returncode not in (0, 1):
        raise AssertionError(f"{arguments}: {result.returncode}\n{result.stderr}")
    return result.stdout


class HtmlReport(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="hlosim-html-")
        cls.browser = chromium.Chromium.start()
        cls.pages = {}

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        cls.folder.cleanup()

    def module(self):
        """A transformer of 2,000 instructions, with copies, collectives, loops."""
        path = pathlib.Path(self.folder.name) / "big.hlo"
        if not path.exists():
            subprocess.run([sys.executable, ROOT / "bench/make_module.py", "2000", "-o", path], check=True)
        return path

    def page(self, module, *options, device="v5e", page_options=()):
        """The page and the JSON of a module; `page_options` are of the page alone."""
        key = (str(module), device, options, page_options)
        if key not in self.pages:
            name = pathlib.Path(self.folder.name) / f"{len(self.pages)}.html"
            arguments = ["report", f"--device={device}", *options, module]
            run(*arguments, *page_options, "--format=html", "-o", name)
            self.pages[key] = (name, json.loads(run(*arguments, "--format=json")))
        name, report = self.pages[key]
        self.current = self.browser.open(name.as_uri())
        return self.current, report

    def text(self, name, text):
        path = pathlib.Path(self.folder.name) / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def tearDown(self):
        if not hasattr(self, "current"):
            return
        if SCREENSHOTS:
            self.current.screenshot(f"{SCREENSHOTS}/{self._testMethodName}.png")
        self.current.evaluate("localStorage.clear()")  # each test has the theme of the system
        self.assertEqual(self.current.problems(), [])
        self.assertEqual([url for url in self.current.requests() if not url.startswith(("file:", "data:"))], [])
        self.assertEqual(len([url for url in self.current.requests() if url.startswith("file:")]), 1)

    def show(self, page, view):
        page.click(f"#tab-{view}")
        page.wait(f"!document.querySelector('#view-{view}').hidden && hlosim.current.id === '{view}'")
        page.evaluate("hlosim.ready(hlosim.current).then(() => new Promise((done) => setTimeout(done, 60)))")

    def view(self, name):
        return f"hlosim.views.find((view) => view.id === '{name}')"

    def texts(self, page, selector):
        return page.evaluate(f"[...document.querySelectorAll({json.dumps(selector)})].map((e) => e.textContent)")

    # ── Numbers ──

    def test_data_is_the_json(self):
        page, report = self.page(self.module())
        found = page.evaluate(EXPANDED)
        for row, expected in zip(found["instructions"], report["instructions"]):
            traffic = {}
            for key in [key for key in row if key.startswith("traffic/")]:
                _, space, what = key.split("/")
                traffic.setdefault(space, {"space": space})[what] = row.pop(key)
            row["traffic"] = [t for t in traffic.values() if t["read_bytes"] or t["written_bytes"]]
            row["traffic"].sort(key=lambda t: t["space"])
            expected["traffic"].sort(key=lambda t: t["space"])
        for only_for_diff in ("comparison", "compared_instructions"):
            del report[only_for_diff]
        self.assertEqual(found, report)

    def test_summary_says_what_the_json_says(self):
        page, report = self.page(self.module())
        number = lambda name: page.evaluate(f"document.querySelector('[data-number=\"{name}\"]').textContent")
        self.assertEqual(number("time/total_ps"), time_text(report["time"]["total_ps"]))
        self.assertEqual(number("time/bound_by"), report["time"]["bound_by"])
        self.assertEqual(number("time/exposed_copies_ps"), time_text(report["time"]["exposed_copies_ps"]))
        self.assertEqual(number("time/exposed_collectives_ps"), time_text(report["time"]["exposed_collectives_ps"]))
        self.assertEqual(number("traffic/hbm_bytes"), bytes_text(report["traffic"]["hbm_bytes"]))
        for space in report["memory"]["spaces"]:
            if space["capacity_bytes"]:
                self.assertEqual(number(f"peak/{space['name']}"), bytes_text(space["peak_bytes"]))
        exact = page.evaluate("document.querySelector('[data-number=\"time/total_ps\"]').title")
        self.assertEqual(exact, f"{report['time']['total_ps']:,} ps")

    def test_summary_in_short(self):
        page, report = self.page(self.module())
        rows = report["instructions"]
        lines = self.texts(page, "#view-summary .short li")
        bound = [row for row in rows if row["bound_by"] == report["time"]["bound_by"]]
        self.assertIn(report["time"]["bound_by"], lines[0])
        self.assertIn(f"in {len(bound):,} operations", lines[0])
        kinds = {}
        for row in rows:
            name = re.sub(r"\d+", "#", row["op_name"] or row["name"])
            if not row["op_name"] and row["padded_bytes"]:
                name += " with " + bytes_text(row["padded_bytes"])
            kinds.setdefault(name, []).append(row)
        time_of = {name: sum(row["self_time_ps"] for row in members) for name, members in kinds.items()}
        first = max(time_of, key=time_of.get)
        self.assertGreater(len(kinds[first]), 1)
        link = "#view-summary .short li:nth-child(2) a"
        self.assertEqual(page.evaluate(f"document.querySelector('{link}').title"), first)
        label = self.texts(page, link)[0]
        self.assertIn(f"{label}: {len(kinds[first])} of them take {100 * time_of[first] / report['time']['total_ps']:.1f}\u00a0%", lines[1])
        # The link shows them, whatever was filtered before.
        self.operations(page)
        page.type("#operation-filter", "copy-start")
        self.show(page, "summary")
        page.click("#view-summary .short li:nth-child(2) a")
        page.wait("hlosim.current.id === 'operations' && document.querySelector('#operation-group').value === 'kind'")
        page.wait("document.querySelector('#operation-filter').value === ''")
        table = f"{self.view('operations')}.table"
        groups = page.evaluate(f"{table}.lines.filter((l) => typeof l === 'object').map((l) => [l.value, l.summary.self_time_ps.value])")
        self.assertEqual({name: time for name, time in groups}, time_of)
        names = page.evaluate(f"{table}.lines.filter((l) => typeof l === 'number').map((row) => hlosim.data.columns.name[row])")
        self.assertEqual(sorted(names), sorted(row["name"] for row in kinds[first]))

    def test_summary_has_the_flag_that_would_save_time(self):
        page, report = self.page(self.text("flag.hlo", self.SCOPES))
        pretend = "hlosim.data.report.flags_not_given = {rows: 2, columns: {flag: ['xla_a', 'xla_b'], value: ['1', 'false'], other: ['2', 'true'], time_ps: [%d, %d]}}"
        total = report["time"]["total_ps"]
        page.evaluate(pretend % (0.9 * total, 1.001 * total) + f"; {self.view('summary')}.open()")
        lines = self.texts(page, "#view-summary .short li")
        found = [line for line in lines if line.startswith("Assumed")]
        self.assertEqual(len(found), 1, lines)
        self.assertIn("Assumed --xla_a=1, which the module does not specify. With 2: ", found[0])
        self.assertIn("(\u221210.0\u00a0%)", found[0])
        self.assertEqual(page.evaluate("[...document.querySelectorAll('#view-summary .short li')].find((e) => e.textContent.startsWith('Assumed')).className"), "warn")

    def test_summary_has_what_else_bounds_the_time(self):
        page, report = self.page(self.module())
        others = [row for row in report["time"]["by_unit"] if row["unit"] != report["time"]["bound_by"]]
        longest = max(others, key=lambda row: row["bounds_ps"])
        card = next(text for text in self.texts(page, "#cards .card") if text.startswith("Bound by"))
        self.assertIn(f"{longest['unit']} {100 * longest['bounds_ps'] / report['time']['total_ps']:.1f}\u00a0%", card)

    # ── Labels ──

    SCOPES = """HloModule scopes, is_scheduled=true
ENTRY main {
  a = bf16[1024,1024]{1,0:T(8,128)(2,1)} parameter(0)
  b.1 = bf16[1024,1024]{1,0:T(8,128)(2,1)} dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(train_step)/train_step/forward_backward/transformer/layers/checkpoint/attention/query/dot_general" source_file="/app/trainer/models/a_very_long_folder/modeling.py" source_line=10}
  b.2 = bf16[1024,1024]{1,0:T(8,128)(2,1)} dot(b.1, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(train_step)/train_step/forward_backward/transformer/layers/checkpoint/attention/value/dot_general" source_file="/app/trainer/models/a_very_long_folder/modeling.py" source_line=11}
  c.1 = bf16[1024,1024]{1,0:T(8,128)(2,1)} negate(b.2), metadata={op_name="jit(train_step)/train_step/optimizer/neg" source_file="/app/trainer/optimizer.py" source_line=7}
  t = (bf16[1024,1024]{1,0:T(8,128)(2,1)}, bf16[1024,1024]{1,0:T(8,128)(2,1)}) tuple(c.1, b.2), metadata={op_name="jit(train_step)/train_step/optimizer/neg"}
  g = bf16[1024,1024]{1,0:T(8,128)(2,1)} get-tuple-element(t), index=0, metadata={op_name="jit(train_step)/train_step/forward_backward/transformer/layers/checkpoint/attention/value/dot_general"}
  ROOT d = bf16[1024,1024]{1,0:T(8,128)(2,1)} add(g, b.2)
}
"""

    def test_labels_tell_names_apart(self):
        page, report = self.page(self.text("scopes.hlo", self.SCOPES))
        self.assertEqual(self.texts(page, "#view-summary .prefix code"), ["jit(train_step)/train_step/"])
        labels = self.texts(page, "#kinds tbody th")
        self.assertEqual(len(set(labels)), len(labels))
        # Both matmuls differ in one scope in the middle.
        self.assertEqual(len([label for label in labels if "query" in label]), 1, labels)
        self.assertEqual(len([label for label in labels if "value" in label]), 1, labels)
        self.operations(page)
        page.evaluate("(() => { const e = document.querySelector('#operation-group'); e.value = 'source'; e.dispatchEvent(new Event('change')); })()")
        self.assertEqual(self.texts(page, "#operation-prefix code"), ["/app/trainer/"])
        groups = self.texts(page, "#view-operations tr.group td:first-child")
        for line in ("modeling.py:10", "modeling.py:11", "optimizer.py:7"):
            self.assertEqual(len([group for group in groups if group.endswith(line)]), 1, groups)
        # Long paths that only their folders in the middle tell apart.
        found = page.evaluate("hlosim.labelsOf(['a', 'b'].map((one) => 'x'.repeat(40) + '/' + one + '/' + 'y'.repeat(60) + '/end'))"
                              " && ['a', 'b'].map((one) => hlosim.labelsOf(['a', 'b'].map((two) => 'x'.repeat(40) + '/' + two + '/' + 'y'.repeat(60) + '/end'))"
                              ".of('x'.repeat(40) + '/' + one + '/' + 'y'.repeat(60) + '/end'))")
        self.assertEqual(len(set(found)), 2, found)
        # What differs is longer than a label: its beginning tells them apart.
        names = ["jit(f)/loop/" + one * 90 + "/end" for one in "ab"]
        found = page.evaluate(f"{json.dumps(names)}.map((one) => hlosim.labelsOf({json.dumps(names + ['jit(f)/other/neg'])}).of(one))")
        self.assertEqual(len(set(found)), 2, found)
        self.assertLessEqual(max(map(len, found)), 48, found)

    def test_groups_have_the_colour_of_most_time_and_one_count(self):
        page, report = self.page(self.text("scopes.hlo", self.SCOPES))
        kinds = {}
        for row in report["instructions"]:
            kinds.setdefault(row["op_name"], []).append(row)
        counts = dict(zip(page.evaluate("[...document.querySelectorAll('#kinds tbody th')].map((e) => e.title)"), self.texts(page, "#kinds tbody td:nth-child(2)")))
        self.operations(page)
        page.evaluate("(() => { const e = document.querySelector('#operation-group'); e.value = 'kind'; e.dispatchEvent(new Event('change')); })()")
        lines = page.evaluate("[...document.querySelectorAll('#view-operations tr.group td:first-child')].map((e) => [e.title, e.textContent, e.querySelector('.swatch').style.background])")
        for title, text, colour in lines:
            if title in counts:
                self.assertTrue(text.lstrip("▾▸").startswith(f"{counts[title]} ×"), (text, counts[title]))
            if "value" in title:
                self.assertEqual(colour, "var(--c-matmul)")

    # ── Op profile ──

    def test_op_profile(self):
        page, report = self.page(self.text("scopes.hlo", self.SCOPES))
        self.show(page, "scopes")
        time = lambda rows: sum(row["self_time_ps"] for row in rows)
        rows = report["instructions"]
        cells = lambda: page.evaluate("Object.fromEntries([...document.querySelectorAll('#scope-tree tr.scope')].map((e) => [e.node.name, [...e.querySelectorAll('td')].map((d) => d.textContent)]))")
        self.assertEqual(cells()["all"][0], time_text(time(rows)))
        self.assertEqual(cells()["all"][5], str(len(rows)))
        # Scopes with one scope inside are one line, and those with much of the time are open.
        self.assertIn("jit(train_step)/train_step", cells())
        below = [row for row in rows if (row["op_name"] or "").startswith("jit(train_step)/train_step/forward_backward")]
        found = cells()["forward_backward/transformer/layers/checkpoint/attention"]
        self.assertEqual(found[0], time_text(time(below)))
        self.assertEqual(found[1], f"{100 * time(below) / report['time']['total_ps']:.1f}\u00a0%")
        seconds, flops = time(below) * 1e-12, sum(row["flops"] or 0 for row in below)
        hbm = lambda row: sum(t["read_bytes"] + t["written_bytes"] for t in row["traffic"] if t["space"] == "hbm")
        peak, bandwidth = report["device"]["peak_flops_per_second"], report["device"]["peak_hbm_bytes_per_second"]
        self.assertEqual(found[2], f"{100 * flops / seconds / peak:.1f}\u00a0%")
        self.assertEqual(found[3], f"{100 * sum(map(hbm, below)) / seconds / bandwidth:.1f}\u00a0%")
        wasted = sum(row["self_time_ps"] - max((row["flops"] or 0) / peak, hbm(row) / bandwidth) * 1e12 for row in below if row["self_time_ps"])
        self.assertEqual(found[4], time_text(round(wasted)))
        # By keyboard: open and close.
        page.evaluate("[...document.querySelectorAll('#scope-tree tr.scope')].find((e) => e.node.name === 'optimizer/neg').focus()")
        before = page.evaluate("document.querySelectorAll('#scope-tree tbody tr').length")
        page.key("ArrowRight")
        self.assertGreater(page.evaluate("document.querySelectorAll('#scope-tree tbody tr').length"), before)
        page.key("ArrowLeft")
        self.assertEqual(page.evaluate("document.querySelectorAll('#scope-tree tbody tr').length"), before)

    def test_rates_of_asynchronous_operations_are_left_out(self):
        page, report = self.page(self.module())
        rows = [row["name"] for row in report["instructions"] if row["opcode"] in ("copy-start", "async-start")]
        self.assertGreater(len(rows), 0)
        self.operations(page)
        shares = page.evaluate(f"(() => {{ const c = {self.view('operations')}.table.column('hbm_share');"
                               " return hlosim.data.columns.opcode.map((o, row) => [o, c.value(row)]); })()")
        self.assertTrue(all(share is None for opcode, share in shares if opcode in ("copy-start", "async-start")))
        self.assertLess(max(share or 0 for _, share in shares), 1.1)

    # ── Operations ──

    def test_first_columns_are_in_sight(self):
        page, report = self.page(self.text("scopes.hlo", self.SCOPES))
        self.operations(page)
        heads = self.texts(page, "#view-operations thead th")
        self.assertEqual(heads[:8], ["operation", "scope", "time", "share", "bound by", "source", "MXU", "HBM"])
        rights = page.evaluate("[...document.querySelectorAll('#view-operations thead th')].slice(0, 8).map((e) => e.getBoundingClientRect().right)")
        self.assertLess(max(rights), page.evaluate("window.innerWidth"))
        self.assertEqual(heads[8], "shape")
        first = max(report["instructions"], key=lambda row: row["self_time_ps"])
        self.assertEqual(first["shape"], "bf16[1024,1024]{1,0:T(8,128)(2,1)}")
        self.assertEqual(self.texts(page, "#view-operations tbody tr[data-row] td:nth-child(9)")[0], first["shape"])
        share = first["flops"] / (first["self_time_ps"] * 1e-12) / report["device"]["peak_flops_per_second"]
        self.assertEqual(self.texts(page, "#view-operations tbody tr[data-row] td:nth-child(7)")[0], f"{100 * share:.1f}\u00a0%")
        self.assertIn("dot_general", self.texts(page, "#view-operations tbody tr[data-row] td:nth-child(2)")[0])

    def operations(self, page):
        self.show(page, "operations")

    def test_operations_filter_sort_and_open(self):
        page, report = self.page(self.module())
        rows = report["instructions"]
        self.operations(page)
        page.type("#operation-filter", "fusion")
        wanted = [row for row in rows if any("fusion" in (row[key] or "").lower() for key in ("name", "opcode", "computation", "op_name"))
                  or "fusion" in f"{row['source_file'] or ''}"]
        self.assertLess(len(wanted), len(rows))
        count = page.evaluate("document.querySelector('#operation-count').textContent")
        self.assertTrue(count.startswith(f"{len(wanted):,} of {len(rows):,} operations, {time_text(sum(row['self_time_ps'] for row in wanted))}"), count)
        first = max(wanted, key=lambda row: row["self_time_ps"])
        names = self.texts(page, "#view-operations tbody tr[data-row] td:first-child")
        self.assertEqual(names[0], first["name"])
        # By another column, twice.
        header = "#view-operations th:nth-child(13) button"
        page.click(header)
        most = max(row["padded_bytes"] for row in wanted)
        self.assertEqual(page.evaluate("document.querySelector('#view-operations th:nth-child(13)').getAttribute('aria-sort')"), "descending")
        hbm = lambda row: sum(t["read_bytes"] + t["written_bytes"] for t in row["traffic"] if t["space"] == "hbm")
        self.assertGreater(most, 0)
        self.assertEqual(self.texts(page, "#view-operations tbody tr[data-row] td:nth-child(13)")[0], bytes_text(max(map(hbm, wanted))))
        page.click(header)
        self.assertEqual(page.evaluate("document.querySelector('#view-operations th:nth-child(13)').getAttribute('aria-sort')"), "ascending")
        self.assertEqual(self.texts(page, "#view-operations tbody tr[data-row] td:nth-child(13)")[0], bytes_text(min(map(hbm, wanted))))
        # A click opens the details, Escape closes them.
        page.click("#view-operations tbody tr[data-row]")
        self.assertFalse(page.evaluate("document.querySelector('#details').hidden"))
        self.assertEqual(self.texts(page, "#details h2")[0], page.evaluate("hlosim.data.columns.name[hlosim.selected]"))
        page.key("Escape")
        self.assertTrue(page.evaluate("document.querySelector('#details').hidden"))
        # What is no regular expression is said to be none.
        page.type("#operation-filter", "/(/")
        self.assertIn("nvalid", page.evaluate("document.querySelector('#operation-count').textContent"))
        page.type("#operation-filter", "opcode:copy-start")
        copies = sum("copy-start" in row["opcode"] for row in rows)
        self.assertTrue(page.evaluate("document.querySelector('#operation-count').textContent").startswith(f"{copies:,} of"))

    def test_operations_in_groups(self):
        page, report = self.page(self.module())
        self.operations(page)
        for key in ("opcode", "computation", "source"):
            page.evaluate(f"(() => {{ const e = document.querySelector('#operation-group'); e.value = '{key}'; e.dispatchEvent(new Event('change')); }})()")
            sums = {}
            for row in report["instructions"]:
                value = f"{row['source_file']}:{row['source_line']}" if key == "source" else row[key]
                if key == "source" and row["source_file"] is None:
                    value = "none"
                sums[value] = sums.get(value, 0) + row["self_time_ps"]
            groups = page.evaluate(f"{self.view('operations')}.table.lines.filter((l) => typeof l === 'object').map((l) => [l.value ?? 'none', l.summary.self_time_ps.value])")
            self.assertEqual({value: time for value, time in groups}, sums)
            self.assertEqual([time for _, time in groups], sorted(sums.values(), reverse=True))
        # A group opens and closes.
        page.click("#view-operations tr.group")
        self.assertEqual(page.evaluate("document.querySelector('#view-operations tr.group').getAttribute('aria-expanded')"), "true")
        self.assertGreater(page.evaluate("document.querySelectorAll('#view-operations tr[data-row]').length"), 0)
        page.key("ArrowLeft")
        self.assertEqual(page.evaluate("document.querySelectorAll('#view-operations tr[data-row]').length"), 0)

    def test_operations_by_keyboard(self):
        page, _ = self.page(self.module())
        self.operations(page)
        page.click("#view-operations tbody tr[data-at='0']")
        for _ in range(5):
            page.key("ArrowDown")
        self.assertEqual(page.evaluate("document.activeElement.dataset.at"), "5")
        page.key("Enter")
        self.assertEqual(page.evaluate("hlosim.selected"), page.evaluate("Number(document.activeElement.dataset.row)"))
        page.key("End")
        self.assertEqual(page.evaluate("Number(document.activeElement.dataset.at)"), page.evaluate("hlosim.data.rows - 1"))
        self.assertLess(page.evaluate("document.querySelectorAll('#view-operations tbody tr').length"), 80)

    # ── Pictures ──

    def test_timeline_zooms_pans_and_selects(self):
        page, report = self.page(self.module())
        self.show(page, "timeline")
        window = f"[{self.view('timeline')}.view.low, {self.view('timeline')}.view.high]"
        total = report["time"]["total_ps"]
        self.assertEqual(page.evaluate(window), [0, total])
        x, y = page.center("#timeline-canvas")
        page.wheel(x, y, -480, control=True)
        page.wait(f"{self.view('timeline')}.view.span < {total} / 3")
        low, high = page.evaluate(window)
        page.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
        page.mouse("mouseMoved", x - 200, y, button="left", buttons=1)
        page.mouse("mouseReleased", x - 200, y, button="left", clickCount=1)
        moved, _ = page.evaluate(window)
        self.assertGreater(moved, low)
        page.evaluate("document.querySelector('#timeline-canvas').focus()")
        page.key("+")
        self.assertLess(page.evaluate(f"{self.view('timeline')}.view.span"), (high - low) * 0.6)
        page.key("0")
        self.assertEqual(page.evaluate(window), [0, total])
        # Click the slice that an operation has.
        longest = max(report["instructions"], key=lambda row: row["self_time_ps"])
        place = page.evaluate(f"""(() => {{
          const view = {self.view('timeline')}, row = hlosim.data.find({json.dumps(longest['name'])}), slice = view.sliceOf.get(row);
          view.zoomTo(slice);
          const box = view.canvas.getBoundingClientRect();
          return [box.x + (view.x(view.slices.start_ps[slice]) + view.x(view.end(slice))) / 2, box.y + view.levels[view.levelOf[slice]].top + 8];
        }})()""")
        page.click_at(*place)
        self.assertEqual(page.evaluate("hlosim.data.columns.name[hlosim.selected]"), longest["name"])
        self.assertEqual(self.texts(page, "#details h2")[0], longest["name"])
        page.mouse("mouseMoved", place[0] + 3, place[1])
        self.assertEqual(self.texts(page, "#tooltip strong"), [longest["name"]])
        # Arrow keys go on from there and tell where they are.
        page.key("ArrowRight")
        self.assertNotEqual(page.evaluate("document.querySelector('#status').textContent"), "")

    def test_timeline_has_scopes(self):
        page, report = self.page(self.text("scopes.hlo", self.SCOPES))
        self.show(page, "timeline")
        scopes = page.evaluate(f"{self.view('timeline')}.scopes.map((s) => [s.depth, s.name, s.start, s.end])")
        row = lambda name: next(row for row in report["instructions"] if row["name"] == name)
        end = lambda name: row(name)["start_ps"] + row(name)["time_ps"]
        self.assertIn([0, "forward_backward", row("b.1")["start_ps"], end("b.2")], scopes)
        self.assertIn([0, "optimizer", row("c.1")["start_ps"], end("c.1")], scopes)
        self.assertEqual({name for depth, name, *_ in scopes if depth == 2}, {"layers"})

    def test_timeline_region_has_sums(self):
        page, report = self.page(self.module())
        self.show(page, "timeline")
        view, total = self.view("timeline"), report["time"]["total_ps"]
        self.assertTrue(page.evaluate("document.querySelector('#timeline-region').hidden"))
        # The whole run: operations take what the report says, and together what the lane of the TensorCore does.
        page.evaluate(f"{view}.setRegion(0, {total})")
        sums = page.evaluate(f"(() => {{ const s = {view}.sums(); return [s.time, s.lanes[0].time, s.operations.reduce((sum, [, ps]) => sum + ps, 0)]; }})()")
        self.assertEqual(sums[0], total)
        self.assertEqual(sums[1], sums[2])
        rows = [row for row in report["instructions"] if row["executions"] == 1 and row["self_time_ps"] == row["time_ps"] > 0]
        self.assertGreater(len(rows), 20)
        found = page.evaluate(f"Object.fromEntries({view}.sums().operations.map(([row, ps]) => [hlosim.data.columns.name[row], ps]))")
        for row in rows[:50]:
            self.assertEqual(found[row["name"]], row["self_time_ps"], row["name"])
        # Dragged with shift; the window stays.
        page.evaluate(f"{view}.setRegion(null)")
        x, y = page.center("#timeline-canvas")
        page.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1, modifiers=8)
        page.mouse("mouseMoved", x + 150, y, button="left", buttons=1, modifiers=8)
        page.mouse("mouseReleased", x + 150, y, button="left", clickCount=1, modifiers=8)
        page.wait("!document.querySelector('#timeline-region').hidden")
        low, high = page.evaluate(f"{view}.region")
        self.assertAlmostEqual((high - low) / total, 150 / page.evaluate(f"{view}.width - 112"), places=2)
        self.assertEqual(page.evaluate(f"[{view}.view.low, {view}.view.high]"), [0, total])
        # The sums follow a moment after the region.
        begin = json.dumps(f"Selected: {time_text(round(high - low))}")
        page.wait(f"document.querySelector('#timeline-region h2').textContent.startsWith({begin})")
        page.click("#timeline-region button")
        page.wait("document.querySelector('#timeline-region').hidden")

    LOOP = """HloModule loop, is_scheduled=true
body {
  s = (s32[], bf16[1024,1024]{1,0:T(8,128)(2,1)}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = bf16[1024,1024]{1,0:T(8,128)(2,1)} get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = bf16[1024,1024]{1,0:T(8,128)(2,1)} dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (s32[], bf16[1024,1024]{1,0:T(8,128)(2,1)}) tuple(j, y)
}
condition {
  s = (s32[], bf16[1024,1024]{1,0:T(8,128)(2,1)}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(100)
  ROOT p = pred[] compare(i, n), direction=LT
}
ENTRY e {
  a = bf16[1024,1024]{1,0:T(8,128)(2,1)} parameter(0)
  zero = s32[] constant(0)
  s = (s32[], bf16[1024,1024]{1,0:T(8,128)(2,1)}) tuple(zero, a)
  w = (s32[], bf16[1024,1024]{1,0:T(8,128)(2,1)}) while(s), condition=condition, body=body
  ROOT r = bf16[1024,1024]{1,0:T(8,128)(2,1)} get-tuple-element(w), index=1
}
"""

    def test_overview_shows_what_loops_do(self):
        page, report = self.page(self.text("loop.hlo", self.LOOP))
        self.show(page, "timeline")
        kinds = page.evaluate(f"{self.view('timeline')}.overviewColumns(200).map((c) => c && c.kind)")
        self.assertEqual(len(kinds), 200)
        loop = next(row for row in report["instructions"] if row["opcode"] == "while")
        self.assertGreater(loop["time_ps"], 0.9 * report["time"]["total_ps"])
        # A step of the loop is mostly its dot; the loop itself is category control.
        self.assertGreater(kinds.count("matmul"), 150)
        self.assertNotIn("control", kinds)
        busy = page.evaluate(f"{self.view('timeline')}.overviewColumns(200).map((c) => c ? c.busy : 0)")
        self.assertTrue(all(0 <= share < 1.001 for share in busy))
        self.assertGreater(sum(busy), 190)

    def test_overview_repeats_the_iterations_that_are_not_drawn(self):
        steps = "".join(f"  y{i} = bf16[1024,1024]{{1,0:T(8,128)(2,1)}} dot({f'y{i - 1}' if i else 'x'}, x), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n"
                        for i in range(40))
        body = self.LOOP.split("\n  y = ")[0] + "\n" + steps
        text = body + "  ROOT t " + self.LOOP.split("ROOT t ", 1)[1].replace("tuple(j, y)", "tuple(j, y39)").replace("constant(100)", "constant(9000)")
        page, report = self.page(self.text("long_loop.hlo", text))
        self.show(page, "timeline")
        hidden = page.evaluate(f"[...{self.view('timeline')}.slices.first_hidden].filter((first) => first > 1).length")
        self.assertGreater(hidden, 0)
        columns = page.evaluate(f"{self.view('timeline')}.overviewColumns(300).map((c) => c && [c.kind, c.busy])")
        self.assertEqual({kind for kind, _ in columns}, {"matmul"})
        self.assertTrue(all(0.9 < busy < 1.001 for _, busy in columns), columns)

    def test_transfers_have_the_colour_of_what_they_start(self):
        page, report = self.page(self.module())
        self.show(page, "timeline")
        categories = dict(page.evaluate("hlosim.data.columns.name.map((name, row) => [name, hlosim.data.workCategories[row]])"))
        for kind, category in (("collectives", "collective"), ("copies", "data movement")):
            starts = {row["start"] for row in report[kind]}
            self.assertGreater(len(starts), 0)
            self.assertNotIn("control", {categories[name] for name in starts})
            self.assertIn(category, {categories[name] for name in starts})

    def test_source_place_is_linked_and_copied(self):
        source = self.text("scopes.hlo", self.SCOPES)
        page, report = self.page(source, page_options=("--source-link=vscode://file{file}:{line}",))
        page.evaluate("hlosim.select(hlosim.data.find('c.1'), null)")
        self.assertEqual(page.evaluate("document.querySelector('#details dd a[rel]').getAttribute('href')"),
                         "vscode://file/app/trainer/optimizer.py:7")
        page.click("#details button.copy")
        page.wait("document.querySelector('#status').textContent === 'Copied /app/trainer/optimizer.py:7'")
        # Without a template there is nothing to link to.
        page, _ = self.page(source)
        page.evaluate("hlosim.select(hlosim.data.find('c.1'), null)")
        self.assertFalse(page.evaluate("!!document.querySelector('#details dd a[rel]')"))
        self.assertEqual(self.texts(page, "#details button.copy"), ["Copy"])

    def test_timeline_search(self):
        page, report = self.page(self.module())
        self.show(page, "timeline")
        page.type("#view-timeline input[type=search]", "opcode:all-reduce")
        page.key("Enter")
        names = {row["name"] for row in report["instructions"] if "all-reduce" in row["opcode"]}
        self.assertIn(page.evaluate("hlosim.data.columns.name[hlosim.selected]"), names)
        first = page.evaluate("hlosim.selected")
        page.key("Enter")
        self.assertNotEqual(page.evaluate("hlosim.selected"), first)

    def test_timeline_flows_and_table(self):
        page, report = self.page(self.module())
        self.show(page, "timeline")
        flows = page.evaluate(f"""(() => {{ const v = {self.view('timeline')};
          return [...v.flows.values()].map((slices) => slices.map((s) => [v.slices.role[s], hlosim.data.columns.name[v.row(s)]])); }})()""")
        pairs = {(copy["start"], copy["done"]) for copy in report["copies"] + report["collectives"] if copy["start"] != copy["done"]}
        found = {(next(name for role, name in flow if role == 1), next(name for role, name in flow if role == 3))
                 for flow in flows if {role for role, _ in flow} >= {1, 3}}
        self.assertEqual(found, pairs)
        page.click("#view-timeline summary")
        page.wait("document.querySelectorAll('#view-timeline details tr[data-row]').length > 5")
        self.assertEqual(page.evaluate(f"{self.view('timeline')}.slicesTable.order.length"), page.evaluate(f"{self.view('timeline')}.slices.track.length"))

    def test_memory(self):
        page, report = self.page(self.module())
        self.show(page, "memory")
        for space in report["memory"]["spaces"]:
            if space["peak_bytes"] == 0:
                continue
            page.click(f"#view-memory button[data-space='{space['number']}']")
            self.assertEqual(self.texts(page, "#view-memory [data-number=peak]")[0], bytes_text(space["peak_bytes"]))
            self.assertIn(f"at step {space['peak_step']}, {space['peak_instruction']}", self.texts(page, "#view-memory .facts")[0])
            title = self.texts(page, "#view-memory h3")[0]
            self.assertTrue(title.startswith(f"Alive at step {space['peak_step']}, the peak"), title)
            largest = page.evaluate(f"{self.view('memory')}.table.order.length && {self.view('memory')}.buffers.bytes[{self.view('memory')}.table.order[0]]")
            self.assertEqual(largest, space["largest"][0]["bytes"])
        # Hover over the largest buffer of VMEM.
        page.click("#view-memory button[data-space='1']")
        name, x, y = page.evaluate(f"""(() => {{
          const view = {self.view('memory')}, buffer = view.table.order[0], [left, top, width, height] = view.box(buffer);
          view.canvas.scrollIntoView({{block: "center"}});
          const box = view.canvas.getBoundingClientRect();
          return [view.buffers.name[buffer], box.x + left + width / 2, box.y + top + height / 2];
        }})()""")
        page.mouse("mouseMoved", x, y)
        self.assertEqual(self.texts(page, "#tooltip strong"), [name])
        page.click_at(x, y)
        self.assertFalse(page.evaluate("document.querySelector('#details').hidden"))
        step = page.evaluate(f"{self.view('memory')}.step")
        page.key("ArrowRight")
        self.assertEqual(page.evaluate(f"{self.view('memory')}.step"), step + 1)
        page.key("p")
        self.assertEqual(page.evaluate(f"{self.view('memory')}.step"), page.evaluate(f"{self.view('memory')}.space.peak_step"))
        page.click("#view-memory button[data-axis='by time']")
        self.assertEqual(page.evaluate(f"{self.view('memory')}.view.whole"), report["time"]["total_ps"])

    def test_memory_table_has_class_scope_and_padding(self):
        page, report = self.page(self.text("memory.hlo", """HloModule m, is_scheduled=true
ENTRY e {
  a = f32[100,100]{1,0:T(8,128)} parameter(0)
  b = f32[100,100]{1,0:T(8,128)} negate(a), metadata={op_name="jit(f)/model/mlp/neg" source_file="model.py" source_line=4}
  ROOT c = f32[100,100]{1,0:T(8,128)} exponential(b), metadata={op_name="jit(f)/model/head/exp"}
}
"""))
        self.show(page, "memory")
        heads = self.texts(page, "#view-memory table.data thead th")
        self.assertEqual(heads[:5], ["buffer", "size", "padding", "class", "scope"])
        page.evaluate(f"{self.view('memory')}.setStep(1)")
        rows = {line[0]: dict(zip(heads, line)) for line in page.evaluate("[...document.querySelectorAll('#view-memory tr[data-row]')].map((e) => [...e.children].map((c) => c.textContent))")}
        self.assertEqual(rows["b"]["padding"], f"{100 * (1 - 100 * 100 / (104 * 128)):.1f}\u00a0%")
        self.assertEqual((rows["b"]["class"], rows["a"]["class"]), ("activations", "inputs"))
        self.assertEqual((rows["b"]["scope"], rows["b"]["source"]), ("mlp/neg", "model.py:4"))
        page.type("#buffer-filter", "activations mlp")
        self.assertEqual(self.texts(page, "#view-memory tr[data-row] td:first-child"), ["b"])
        self.assertIn("; 1 found", self.texts(page, "#view-memory h3")[0])

    def test_roofline(self):
        page, report = self.page(self.module())
        self.show(page, "roofline")
        hbm = lambda row: sum(t["read_bytes"] + t["written_bytes"] for t in row["traffic"] if t["space"] == "hbm")
        rows = [row for row in report["instructions"] if row["flops"] and hbm(row) and row["self_time_ps"]]
        self.assertEqual(page.evaluate(f"{self.view('roofline')}.points.length"), len(rows))
        page.evaluate("document.querySelector('#roofline-canvas').focus()")
        page.key("ArrowRight")
        page.key("Enter")
        longest = max(rows, key=lambda row: row["self_time_ps"])
        self.assertEqual(page.evaluate("hlosim.data.columns.self_time_ps[hlosim.selected]"), longest["self_time_ps"])
        point = page.evaluate(f"{self.view('roofline')}.points[0]")
        self.assertAlmostEqual(point["intensity"], longest["flops"] / hbm(longest))

    def test_transfers_padding_and_assumptions(self):
        page, report = self.page(self.module())
        self.show(page, "transfers")
        headings = self.texts(page, "#view-transfers section h2")
        self.assertIn(f"Copies ({len(report['copies'])})", headings)
        self.assertIn(f"Collectives ({len(report['collectives'])})", headings)
        self.show(page, "padding")
        self.assertEqual(self.texts(page, "#view-padding [data-number=padding]")[0], bytes_text(report["padding_total"]["extra_bytes"]))
        self.assertEqual(self.texts(page, "#view-padding tbody tr[data-row] td:first-child")[0], report["padding"][0]["name"])
        self.show(page, "assumptions")
        shown = self.texts(page, "#view-assumptions")[0]
        for assumption in report["assumptions"]:
            self.assertIn(assumption["text"], shown)

    def test_text_has_costs_and_links(self):
        page, report = self.page(self.module())
        self.show(page, "text")
        lines = self.module().read_text().splitlines()
        self.assertEqual(page.evaluate(f"{self.view('text')}.text"), lines)
        longest = max(report["instructions"], key=lambda row: row["self_time_ps"])
        page.evaluate(f"hlosim.select(hlosim.data.find({json.dumps(longest['name'])}), null)")
        cells = page.evaluate(f"[...document.querySelectorAll('#view-text tr[data-line=\"{longest['line'] - 1}\"] td')].map((td) => td.textContent)")
        self.assertEqual(cells[0], str(longest["line"]))
        self.assertEqual(cells[1], time_text(longest["self_time_ps"]))
        self.assertEqual(cells[3], lines[longest["line"] - 1])
        # Names link to their operation.
        page.evaluate("[...document.querySelectorAll('#view-text tr.selected td.source a')].pop().click()")
        self.assertNotEqual(page.evaluate("hlosim.data.columns.name[hlosim.selected]"), None)
        page.type("#view-text input[type=search]", "all-reduce")
        self.assertIn(" of ", page.evaluate(f"{self.view('text')}.found.textContent"))
        at = page.evaluate(f"{self.view('text')}.matchLine")
        self.assertIn("all-reduce", lines[at])

    # ── The whole ──

    def test_everything_is_linked_by_address(self):
        page, report = self.page(self.module())
        name = report["instructions"][40]["name"]
        page.evaluate("location.hash = '#view=text&op=40'")
        page.wait("hlosim.selected === 40 && hlosim.current.id === 'text'")
        page.wait("document.querySelectorAll('#view-text tr.selected').length === 1")
        self.assertEqual(self.texts(page, "#details h2")[0], name)
        page.evaluate("[...document.querySelectorAll('#details .buttons button')].find((b) => b.textContent === 'Timeline').click()")
        page.wait("hlosim.current.id === 'timeline'")
        page.wait(f"{self.view('timeline')}.view && {self.view('timeline')}.cursor >= 0")

    def test_tabs_by_keyboard(self):
        page, _ = self.page(self.module())
        page.evaluate("document.querySelector('#tab-summary').focus()")
        seen = []
        for _ in range(10):
            page.key("ArrowRight")
            page.evaluate("new Promise((done) => setTimeout(done, 30))")
            seen.append(page.evaluate("document.activeElement.id"))
            page.wait(f"!document.querySelector('#view-' + {json.dumps(seen[-1][4:])}).hidden")
        self.assertEqual(len(set(seen)), 10)
        self.assertEqual(seen[-1], "tab-summary")

    def test_screen_readers_find_names(self):
        page, _ = self.page(self.module())
        page.evaluate("hlosim.select(5, null)")
        for view in ("summary", "scopes", "timeline", "memory", "roofline", "operations", "transfers", "padding", "text", "assumptions"):
            self.show(page, view)
            nodes = page.call("Accessibility.getFullAXTree")["nodes"]
            roles = {}
            for node in nodes:
                role = node.get("role", {}).get("value")
                if node.get("ignored"):
                    continue
                name = node.get("name", {}).get("value", "")
                roles.setdefault(role, []).append(name)
                if role in ("button", "link", "searchbox", "combobox", "tab", "application", "grid", "tabpanel", "region"):
                    self.assertNotEqual(name.strip(), "", f"a {role} without a name in {view}")
            self.assertEqual(len(roles["tab"]), 10)
            if view in ("timeline", "memory", "roofline"):
                self.assertEqual(len(roles["application"]), 1)

    def test_dark_and_light(self):
        page, _ = self.page(self.module())
        background = "getComputedStyle(document.body).backgroundColor"
        seen = {}
        for theme in ("light", "dark"):
            page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
            seen[theme] = page.evaluate(background)
        self.assertNotEqual(seen["light"], seen["dark"])
        page.click("#theme")  # light, whatever the system says
        self.assertEqual(page.evaluate(background), seen["light"])
        page.click("#theme")
        self.assertEqual(page.evaluate(background), seen["dark"])
        for view in ("timeline", "memory", "roofline"):
            self.show(page, view)

    def test_theme_is_remembered(self):
        page, _ = self.page(self.module())
        page.click("#theme")
        page.click("#theme")
        self.assertEqual(self.texts(page, "#theme"), ["Theme: dark"])
        page, _ = self.page(self.text("other.hlo", "HloModule m\nENTRY e { a = f32[64,128] parameter(0) ROOT b = f32[64,128] negate(a) }\n"))
        self.assertEqual(self.texts(page, "#theme"), ["Theme: dark"])
        page.click("#theme")
        self.assertEqual(self.texts(page, "#theme"), ["Theme: auto"])

    CONTRASTS = """(() => {
      const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
      const luminance = (c) => [0.2126, 0.7152, 0.0722].reduce((sum, w, i) => sum + w * (c[i] / 255 <= 0.03928 ? c[i] / 255 / 12.92 : ((c[i] / 255 + 0.055) / 1.055) ** 2.4), 0);
      const ratio = (a, b) => { const [x, y] = [luminance(a), luminance(b)]; return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05); };
      const behind = (element) => {
        for (let e = element; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.length === 3 || c[3] === 1) return c; }
        return [255, 255, 255];
      };
      const out = {text: [], edge: []};
      for (const e of document.querySelectorAll("body *")) {
        const box = e.getBoundingClientRect();
        if (box.width < 2 || box.height < 2 || e.closest(".hidden-text, .skip, noscript")) continue;
        const own = [...e.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
        const style = getComputedStyle(e);
        if (own) out.text.push([ratio(parse(style.color), behind(e)), e.tagName + "." + e.className + ": " + e.textContent.trim().slice(0, 30)]);
        if (/^(BUTTON|INPUT|SELECT)$/.test(e.tagName) && parseFloat(style.borderTopWidth) > 0)
          out.edge.push([ratio(parse(style.borderTopColor), behind(e.parentElement)), e.tagName + "#" + e.id]);
      }
      return Object.fromEntries(Object.entries(out).map(([key, list]) => [key, list.sort((a, b) => a[0] - b[0])[0] || null]));
    })()"""

    def test_contrast(self):
        page, _ = self.page(self.module())
        for theme in ("light", "dark"):
            page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
            page.evaluate("hlosim.select(5, null)")
            for view in ("summary", "scopes", "timeline", "memory", "roofline", "operations", "transfers", "padding", "text", "assumptions"):
                self.show(page, view)
                least = page.evaluate(self.CONTRASTS)
                self.assertGreaterEqual(least["text"][0], 4.5, (theme, view, least["text"]))
                if least["edge"]:
                    self.assertGreaterEqual(least["edge"][0], 3, (theme, view, least["edge"]))

    def test_keys_are_listed(self):
        page, _ = self.page(self.module())
        page.evaluate("document.querySelector('#main').focus()")
        page.key("?")
        page.wait("document.querySelector('#keys')?.open")
        self.assertIn("search field", self.texts(page, "#keys")[0])
        page.click("#keys button")
        self.assertFalse(page.evaluate("document.querySelector('#keys').open"))
        # In a field it is a letter.
        self.operations(page)
        page.evaluate("document.querySelector('#operation-filter').focus()")
        page.key("?")
        self.assertFalse(page.evaluate("document.querySelector('#keys').open"))

    def test_points_above_the_roof_are_marked(self):
        # int8 products reach twice the peak in bf16.
        page, _ = self.page(self.text("int8.hlo", """HloModule m, is_scheduled=true
ENTRY e {
  a = s8[4096,4096]{1,0:T(8,128)(4,1)} parameter(0)
  ROOT b = s32[4096,4096]{1,0:T(8,128)} dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""))
        self.show(page, "roofline")
        self.assertGreater(page.evaluate(f"{self.view('roofline')}.shareOf({self.view('roofline')}.points[0])"), 1)
        self.assertIn("1 operation is above the roof", self.texts(page, "#roofline-above")[0])
        self.assertIn("▲", self.texts(page, "#view-roofline tbody tr[data-row]")[0])
        page, _ = self.page(self.text("scopes.hlo", self.SCOPES))
        self.show(page, "roofline")
        self.assertTrue(page.evaluate("document.querySelector('#roofline-above').hidden"))

    def test_a_device_without_room_is_never_the_best(self):
        module = self.text("large.hlo", "HloModule m, is_scheduled=true\nENTRY e { a = f32[5000,1000000]{1,0:T(8,128)} parameter(0) "
                                        "ROOT b = f32[5000,1000000]{1,0:T(8,128)} negate(a) }\n")
        reports = json.loads(run("report", module, "--device=v4,v7x", "--format=json"))
        page = self.compared(module, "--device=v4,v7x")
        page.wait("hlosim.current.id === 'compare' && document.querySelector('#compare-table') !== null")
        self.assertEqual([report["memory"]["fits"] for report in reports], [False, True])
        self.assertEqual(self.texts(page, "#compare-table tbody tr:first-child td"), ["no: out of memory", "yes"])
        self.assertEqual(page.evaluate("document.querySelectorAll('#compare-table td.overflows').length > 5"), True)
        self.assertEqual(page.evaluate("[...document.querySelectorAll('#compare-table td:nth-child(2)')].filter((e) => e.classList.contains('least')).length"), 0)
        self.assertIn("does not fit", self.texts(page, "#compare-bars tbody tr:first-child")[0])

    def test_paper_has_every_part(self):
        page, _ = self.page(self.module())
        page.evaluate("hlosim.openAll()")
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        self.assertEqual(page.evaluate("[...document.querySelectorAll('section.view')].filter((view) => view.hidden).length"), 0)
        self.assertGreater(page.evaluate("document.querySelectorAll('#view-operations tr[data-row]').length"), 50)
        page.evaluate("window.dispatchEvent(new Event('afterprint'))")
        self.assertEqual(page.evaluate("[...document.querySelectorAll('section.view')].filter((view) => !view.hidden).length"), 1)
        self.assertGreater(len(page.call("Page.printToPDF", printBackground=True)["data"]), 50_000)

    def test_narrow_screens(self):
        page, _ = self.page(self.module())
        page.call("Emulation.setDeviceMetricsOverride", width=420, height=800, deviceScaleFactor=2, mobile=True)
        for view in ("summary", "timeline", "memory", "operations"):
            page.evaluate(f"hlosim.go('{view}')")
            page.wait(f"hlosim.current.id === '{view}'")
            page.evaluate("new Promise((done) => setTimeout(done, 80))")
            self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), 420, view)
            self.assertLess(page.evaluate("document.querySelector('header').offsetHeight"), 150, view)
            left, right = page.evaluate("(() => { const box = document.querySelector('[role=tab][aria-selected=true]').getBoundingClientRect(); return [box.left, box.right]; })()")
            self.assertTrue(0 <= left < right <= 420, view)

    def test_times_are_in_sight_on_a_phone(self):
        name = "all_gather_of_the_weights.137.cloned.1.call_start"
        module = self.text("long.hlo", f"""HloModule long, is_scheduled=true
ENTRY main {{
  p = f32[1024,1024]{{1,0:T(8,128)}} parameter(0)
  copy.start.{name} = (f32[1024,1024]{{1,0:T(8,128)S(1)}}, f32[1024,1024]{{1,0:T(8,128)}}, u32[]{{:S(2)}}) copy-start(p)
  {name} = f32[1024,1024]{{1,0:T(8,128)}} negate(p)
  copy.done.{name} = f32[1024,1024]{{1,0:T(8,128)S(1)}} copy-done(copy.start.{name})
  ROOT sum.{name} = f32[1024,1024]{{1,0:T(8,128)}} add({name}, copy.done.{name})
}}
""")
        page, _ = self.page(module)
        page.call("Emulation.setDeviceMetricsOverride", width=390, height=800, deviceScaleFactor=2, mobile=True)
        for view, column in (("operations", "time"), ("transfers", "duration")):
            self.show(page, view)
            page.evaluate("new Promise((done) => setTimeout(done, 80))")
            boxes = page.evaluate(f"""(() => {{
              const table = document.querySelector('#view-{view} table.data');
              const heads = [...table.querySelectorAll('thead th')];
              const at = heads.findIndex((head) => head.textContent.trim() === '{column}');
              const cells = table.querySelector('tbody tr[data-row]').children;
              return [heads[at], cells[at]].map((one) => one.getBoundingClientRect()).map((box) => [box.left, box.right]);
            }})()""")
            for left, right in boxes:
                self.assertTrue(0 <= left < right <= 390, f"{view}: {left} to {right}")

    def test_nothing_breaks_out(self):
        module = self.text("hostile.hlo", f"""HloModule hostile, is_scheduled=true
ENTRY main {{
  a = f32[64,128] parameter(0), metadata={{op_name="{HOSTILE.rstrip('"')}"}}
  b = f32[64,128] negate(a), metadata={{op_name="{HOSTILE.rstrip('"')}" source_file="<b>x</b>.py" source_line=3}}
  c = f32[64,128] custom-call(b), custom_call_target="</style><script>window.hacked=3</script>", backend_config="{{{{data}}}}"
  ROOT d = f32[64,128] add(b, c), metadata={{op_name="ok\u0007\ufeff"}}
}}
""")
        page, report = self.page(module)
        for view in ("summary", "scopes", "timeline", "memory", "roofline", "operations", "transfers", "padding", "text", "assumptions"):
            self.show(page, view)
        page.evaluate("hlosim.select(hlosim.data.find('b'), null)")
        self.assertIsNone(page.evaluate("window.hacked ?? null"))
        self.assertEqual(page.evaluate("document.querySelectorAll('img').length"), 0)
        row = next(row for row in report["instructions"] if row["name"] == "b")
        self.assertEqual(page.evaluate("hlosim.data.columns.op_name[hlosim.selected]"), row["op_name"])
        self.assertIn("</script>", "".join(self.texts(page, "#details dd")))

    def test_only_the_pages_own_script_and_style_count(self):
        page, _ = self.page(self.module())
        name = page.evaluate("decodeURIComponent(location.pathname)")
        text = pathlib.Path(name).read_text()
        policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text).group(1)
        self.assertNotIn("unsafe", policy)
        for tag, directive in (("script", "script-src"), ("style", "style-src")):
            content, = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.S)
            digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
            self.assertIn(f"{directive} 'sha256-{digest}';", policy)
        # Others have no effect, even if something put them there.
        page.evaluate("""document.body.insertAdjacentHTML("beforeend", '<p id="planted" style="color: rgb(1, 2, 3)" onclick="window.hacked = 1">planted</p>');
            const script = document.createElement("script");
            script.textContent = "window.hacked = 2";
            document.body.append(script);
            const style = document.createElement("style");
            style.textContent = "#planted { background: rgb(1, 2, 3) }";
            document.head.append(style);
            document.getElementById("planted").click()""")
        self.assertIsNone(page.evaluate("window.hacked ?? null"))
        looks = page.evaluate("(({color, backgroundColor}) => [color, backgroundColor])(getComputedStyle(document.getElementById('planted')))")
        self.assertNotIn("rgb(1, 2, 3)", looks)
        found = page.problems()
        self.assertTrue(found and all("Content Security Policy" in problem for problem in found), found)
        page.forget_problems()

    def test_memory_by_time_has_all_iterations(self):
        page, report = self.page(ROOT / "tests/samples/pipeline_loop.hlo")
        self.show(page, "memory")
        for space in report["memory"]["spaces"]:
            page.click(f"#view-memory [data-space='{space['number']}']")
            page.click("#view-memory [data-axis='by time']")
            levels = page.evaluate(f"[...{self.view('memory')}.levels()]")
            self.assertEqual((levels[0][0], levels[-1][1]), (0, report["time"]["total_ps"]))
            mean = sum((end - begin) * size for begin, end, size in levels) / report["time"]["total_ps"]
            self.assertEqual(int(mean + 0.5), space["mean_bytes"])
            self.assertEqual(max(size for _, _, size in levels), space["peak_bytes"])

    def test_corner_cases(self):
        cases = {
            "empty.hlo": "HloModule m\nENTRY e { ROOT t = () tuple() }\n",
            "space.hlo": "HloModule m\nENTRY e { a = f32[4]{0:S(9)} parameter(0) ROOT b = f32[4] negate(a) }\n",
            "scalar.hlo": "HloModule m\nENTRY e { a = s32[] parameter(0) ROOT b = s32[] add(a, a) }\n",
            "large.hlo": "HloModule m\nENTRY e { a = bf16[1000000,100000] parameter(0) b = bf16[100000,1000000] parameter(1) "
                         "ROOT c = bf16[1000000,1000000] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} }\n",
        }
        paths = [self.text(name, text) for name, text in cases.items()] + sorted((ROOT / "examples").glob("*.hlo"))
        for path in paths:
            page, _ = self.page(path)
            for view in ("summary", "scopes", "timeline", "memory", "roofline", "operations", "transfers", "padding", "text", "assumptions"):
                self.show(page, view)
                self.assertEqual(self.texts(page, f"#view-{view} [role=alert]"), [] if path.name != "large.hlo" else
                                 self.texts(page, f"#view-{view} .finding"), f"{path.name}: {view}")
                self.assertNotRegex(self.texts(page, f"#view-{view}")[0], r"\bNaN\b|undefined|Infinity|\[object", f"{path.name}: {view}")
                # The field's words: matmul, stall, comparable programs, unspecified, assumed.
                if view != "text":
                    self.assertNotRegex(self.texts(page, f"#view-{view}")[0], r"like programs|busiest unit alone|matrix product|nobody|had to be taken|dearest|[Ww]aiting for")
            self.assertEqual(page.problems(), [], path.name)

    def test_several_modules(self):
        module = self.text("two.hlo", "HloModule one\nENTRY e { a = f32[64,128] parameter(0) ROOT b = f32[64,128] negate(a) }\n\n"
                                      "HloModule two\nENTRY e { a = f32[64,128] parameter(0) ROOT c = f32[64,128] exponential(a) }\n")
        page, reports = self.page(module)
        self.assertEqual(self.texts(page, "#module-picker option"), ["one on TPU v5e", "two on TPU v5e"])
        page.evaluate("(() => { const e = document.querySelector('#module-picker'); e.value = '1'; e.dispatchEvent(new Event('change')); })()")
        page.wait("hlosim.data.number === 1")
        number = page.evaluate("document.querySelector('[data-number=\"time/total_ps\"]').textContent")
        self.assertEqual(number, time_text(reports[1]["time"]["total_ps"]))
        self.show(page, "text")
        self.assertTrue(page.evaluate(f"{self.view('text')}.text[0]").startswith("HloModule two"))
        self.assertEqual(page.evaluate("hlosim.data.number"), 1)

    def compared(self, *arguments):
        """A page of several reports, and the reports."""
        name = pathlib.Path(self.folder.name) / f"compared-{len(arguments)}.html"
        run("report", *arguments, "--format=html", "-o", name)
        page = self.current = self.browser.open(name.as_uri())
        page.wait("!!(window.hlosim && hlosim.current)")
        return page

    def test_comparison_of_devices(self):
        module = self.module()
        reports = json.loads(run("report", module, "--device=v4,v5e,v6e", "--format=json"))
        page = self.compared(module, "--device=v4,v5e,v6e")
        page.wait("hlosim.current.id === 'compare' && document.querySelector('#compare-table') !== null")
        self.assertEqual(self.texts(page, "#compare-table thead th a"), [f"TPU {name}, 2x2{'x1' * (name == 'v4')} (no wrap-around)" for name in ("v4", "v5e", "v6e")])
        times = [report["time"]["total_ps"] for report in reports]
        self.assertEqual(self.texts(page, "#compare-table tbody tr:first-child td"), ["yes"] * 3)
        row = self.texts(page, "#compare-table tbody tr:nth-child(2) td")
        for text, time in zip(row, times):
            self.assertTrue(text.startswith(time_text(time)), (text, time))
        least = times.index(min(times))
        self.assertEqual(page.evaluate("[...document.querySelectorAll('#compare-table tbody tr:nth-child(2) td')].map((e) => e.classList.contains('least'))"),
                         [i == least for i in range(3)])
        self.assertIn(f"{times[(least + 1) % 3] / min(times):.2f}×", row[(least + 1) % 3])
        widths = page.evaluate("[...document.querySelectorAll('#compare-bars .stack')].map((e) => [...e.children].reduce("
                               "(sum, part) => sum + parseFloat(part.style.width), 0))")
        for width, time in zip(widths, times):
            self.assertAlmostEqual(width, 100 * time / max(times), places=2)
        page.evaluate("document.querySelector('#compare-table thead th:nth-child(3) a').click()")
        page.wait("hlosim.data.number === 1 && hlosim.current.id === 'summary'")

    def test_comparison_of_saved_reports(self):
        names = []
        for text in ("negate", "exponential"):
            module = self.text(f"{text}.hlo", f"HloModule {text}\nENTRY e {{ a = f32[64,128] parameter(0) ROOT b = f32[64,128] {text}(a) }}\n")
            names.append(pathlib.Path(self.folder.name) / f"{text}.json")
            run("report", module, "--device=v5e", "--format=json", "-o", names[-1])
        page = self.compared(*names)
        self.assertEqual(page.evaluate("hlosim.current.id"), "summary")
        self.show(page, "compare")
        page.wait("document.querySelector('#compare-table') !== null")
        self.assertEqual(self.texts(page, "#compare-table thead th a"), ["negate", "exponential"])
        self.assertNotRegex(self.texts(page, "#view-compare")[0], r"\bNaN\b|undefined|Infinity|\[object")

    def test_difference(self):
        other = pathlib.Path(self.folder.name) / "other.hlo"
        subprocess.run([sys.executable, ROOT / "bench/make_module.py", "2200", "-o", other], check=True)
        arguments = ["diff", "--device=v5e", self.module(), other]
        name = pathlib.Path(self.folder.name) / "diff.html"
        run(*arguments, "--format=html", "-o", name)
        diff = json.loads(run(*arguments, "--format=json"))
        page = self.current = self.browser.open(name.as_uri())
        page.wait("hlosim.current.id === 'diff'")
        self.assertEqual(page.evaluate("hlosim.data.part('diff')"), diff)
        page.call("Emulation.setDeviceMetricsOverride", width=420, height=800, deviceScaleFactor=2, mobile=True)
        self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), 420)
        self.assertLess(page.evaluate("document.querySelector('header').offsetHeight"), 150)
        page.call("Emulation.setDeviceMetricsOverride", width=1360, height=900, deviceScaleFactor=1, mobile=False)
        time_change = next(metric["change"] for metric in diff["metrics"] if metric["metric"] == "time_ps")
        self.assertEqual(self.texts(page, "[data-number='diff/time_ps']"), ["+" + time_text(time_change)])
        # What it says first: by how much, and because of which operations.
        most = sorted((row for row in diff["instructions"] if row["change"].get("time_ps", 0) > 0), key=lambda row: -row["change"]["time_ps"])[:3]
        lines = self.texts(page, "#view-diff .short li")
        self.assertTrue(lines[0].startswith(f"It takes {time_text(time_change)} more"), lines[0])
        for row in most:
            self.assertIn((row["after"] or row["before"])["name"], lines[1])
        page.click("#view-diff .card:nth-child(3) .cover")
        self.assertNotEqual(page.evaluate(f"{self.view('diff')}.metric.metric"), "time_ps")
        self.assertEqual(page.evaluate("document.activeElement.id"), "diff-metric")
        for metric in diff["metrics"]:
            page.evaluate(f"{self.view('diff')}.choose({json.dumps(metric['metric'])})")
            rows = page.evaluate(f"[...{self.view('diff')}.table.order].map((row) => {self.view('diff')}.diff.instructions[row].change[{json.dumps(metric['metric'])}])")
            self.assertEqual(sum(rows) + metric["rest"], metric["change"], metric["metric"])
        # A row leads to its operation, in the run that has it.
        page.evaluate(f"{self.view('diff')}.choose('time_ps')")
        first = page.evaluate(f"{self.view('diff')}.diff.instructions[{self.view('diff')}.table.order[0]]")
        page.click("#view-diff tbody tr[data-row]")
        page.wait("hlosim.current.id === 'operations' && hlosim.selected >= 0")
        self.assertEqual(page.evaluate("hlosim.data.number"), 1 if first["after"] else 0)
        self.assertEqual(self.texts(page, "#details h2")[0], (first["after"] or first["before"])["name"])
        # Saved reports have no pictures, but everything else.
        saved = [self.text(f"saved{i}.json", run("report", "--device=v5e", "--format=json", module)) for i, module in enumerate([self.module(), other])]
        run("diff", *saved, "--format=html", "-o", name)
        page = self.current = self.browser.open(name.as_uri())
        page.wait("hlosim.current.id === 'diff'")
        self.assertEqual(self.texts(page, "[data-number='diff/time_ps']"), ["+" + time_text(time_change)])
        for view in ("summary", "scopes", "timeline", "memory", "roofline", "operations", "transfers", "padding", "text", "assumptions"):
            self.show(page, view)
            self.assertEqual(self.texts(page, f"#view-{view} [role=alert]"), [], view)

    def test_measured(self):
        folder, name = pathlib.Path(self.folder.name) / "log", pathlib.Path(self.folder.name) / "measured.html"
        run("trace", "--device=v5e", "--format=xplane", "-o", folder, self.module())
        run("profile", folder, "--format=html", "-o", name)
        program, = json.loads(run("profile", folder, "--format=json"))["programs"]
        page = self.current = self.browser.open(name.as_uri())
        page.wait("hlosim.current.id === 'profile'")
        self.assertEqual(self.texts(page, "#view-profile .card .value"),
                         [time_text(program["time_ps"]), time_text(program["simulated_ps"]), time_text(program["operations_ps"]), "1.000"])
        self.assertEqual(len(self.texts(page, "#view-profile table.plain tbody tr")), len(program["categories"]))
        page.wait("document.querySelectorAll('#view-profile tbody tr[data-row]').length > 0")
        self.assertEqual(page.evaluate("hlosim.current.rows.length"), len(program["operations"]))
        self.show(page, "operations")
        self.assertEqual(self.texts(page, "#view-operations [role=alert]"), [])

    def test_without_scripts(self):
        name = pathlib.Path(self.folder.name) / "plain.html"
        run("report", "--device=v5e", "--format=html", "-o", name, self.module())
        text = run("report", "--device=v5e", self.module())
        session = self.browser.call("Target.createTarget", url="about:blank")["targetId"]
        page = chromium.Page(self.browser, self.browser.call("Target.attachToTarget", targetId=session, flatten=True)["sessionId"])
        page.call("Page.enable")
        page.call("Emulation.setScriptExecutionDisabled", value=True)
        page.call("Page.navigate", url=name.as_uri())
        shown = None
        for _ in range(200):
            try:
                root = page.call("DOM.getDocument")["root"]["nodeId"]
                node = page.call("DOM.querySelector", nodeId=root, selector="noscript pre")["nodeId"]
                shown = page.call("DOM.getOuterHTML", nodeId=node)["outerHTML"]
                break
            except RuntimeError:  # the page is still coming
                time.sleep(0.02)
        self.assertEqual(html.unescape(shown), f"<pre>{text}</pre>")


if __name__ == "__main__":
    if not chromium.find():
        print("skipped: no Chromium here (Debian: apt-get install chromium; or HLOSIM_CHROMIUM=/path)")
        sys.exit(77)
    unittest.main(verbosity=1)
