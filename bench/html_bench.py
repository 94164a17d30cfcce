#!/usr/bin/env python3
"""How fast the page of a report is in a headless Chromium: opening, showing each part, filtering.

  bench/html_bench.py PROGRAM [INSTRUCTIONS...]

Times are of one run each, best and worst of seven: opening counts from the navigation to the filled summary, everything else
to the second frame that follows. Modules are those of bench/make_module.py; INSTRUCTIONS counts those inside fusions too.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/browser"))
import chromium  # noqa: E402

ROUNDS = 7
FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
SHOW = """(async () => { const view = hlosim.views.find((one) => one.id === "%s"), begin = performance.now();
  await hlosim.show(view, {}); await FRAMES; return performance.now() - begin; })()""".replace("FRAMES", FRAMES)
FILTER = """(async () => { const view = hlosim.views.find((one) => one.id === "operations"), begin = performance.now();
  view.filter.value = %s; view.filter.dispatchEvent(new Event("input")); await FRAMES; return performance.now() - begin; })()""".replace("FRAMES", FRAMES)


def spread(times):
    return f"{min(times):7.0f} to {max(times):.0f} ms"


def main():
    program = sys.argv[1]
    for count in map(int, sys.argv[2:] or ["2000", "50000"]):
        with tempfile.TemporaryDirectory() as folder, chromium.Chromium.start() as browser:
            module, page_file = pathlib.Path(folder) / "m.hlo", pathlib.Path(folder) / "m.html"
            subprocess.run([sys.executable, ROOT / "bench/make_module.py", str(count), "-o", module], check=True)
            begin = time.monotonic()
            subprocess.run([program, "report", "--device=v5e", "--format=html", "-o", page_file, module], check=True)
            made = 1000 * (time.monotonic() - begin)
            opened, shown, filtered = [], {}, {}
            for _ in range(ROUNDS):
                begin = time.monotonic()
                page = browser.open(page_file.as_uri())
                opened.append(1000 * (time.monotonic() - begin))
                for view in page.evaluate("hlosim.views.map((view) => view.id)"):
                    shown.setdefault(view, []).append(page.evaluate(SHOW % view))
                page.evaluate(SHOW % "operations")
                for text in ("f", "fusion", "opcode:fusion mlp", "/layer_[0-9]*1/", ""):
                    filtered.setdefault(text, []).append(page.evaluate(FILTER % json.dumps(text)))
            rows = page.evaluate("hlosim.data.rows")
            print(f"{count:,} instructions, {rows:,} operations: {page_file.stat().st_size / 1000:,.0f} kB, made in {made:.0f} ms")
            print(f"  open                       {spread(opened)}")
            for view, times in shown.items():
                print(f"  show {view:<20}  {spread(times)}")
            for text, times in filtered.items():
                print(f"  filter {text or '(all)':<18}  {spread(times)}")


main()
