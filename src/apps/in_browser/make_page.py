#!/usr/bin/env python3
"""The page of src/apps/in_browser with the program in it.

  make_page.py PROGRAM.wasm PAGE.html
"""
import base64
import gzip
import os
import pathlib
import sys

folder = pathlib.Path(__file__).resolve().parent
program, page = sys.argv[1:]
text = (folder / "page.html").read_text(encoding="utf-8")
parts = {"style": "style.css", "worker": "worker.js", "script": "page.js"}
for mark, name in parts.items():
    text = text.replace("{{%s}}" % mark, (folder / name).read_text(encoding="utf-8"))
packed = gzip.compress(pathlib.Path(program).read_bytes(), mtime=0)
text = text.replace("{{program}}", base64.b64encode(packed).decode())
pathlib.Path(page).parent.mkdir(parents=True, exist_ok=True)
part = page + ".part"
pathlib.Path(part).write_text(text, encoding="utf-8")
os.replace(part, page)
print(f"{page}: {len(text.encode())} bytes")
