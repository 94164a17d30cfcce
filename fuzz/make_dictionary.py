#!/usr/bin/env python3
"""Prints a libFuzzer dictionary: the words of HLO text, from the tables that the reader itself uses.

  fuzz/make_dictionary.py FILE.def...
"""
import re
import sys

MARKS = ["->", "<=[", "/*", "*/", "//", "{...}", "[0:4:2]", "1_1_1x0_0", "3x3", "b01f_01io->b01f", ":T(8,128)(2,1)",
         "S(1)", "E(4)", "L(64)", "SC(0:4)", "M(8)", "#0", "{{0,1},{2,3}}", "[2,2]<=[4]T(1,0)", "mesh['x'=2]", "nan(0x1)", "-inf"]
WORDS = ["HloModule", "ENTRY", "ROOT", "FileNames", "FunctionNames", "FileLocations", "StackFrames", "replicated",
         "maximal", "manual", "last_tile_dim_replicate", "token[]", "opaque[]", "f32[]", "f32[8,128]{1,0}", "s32[2]{0}", "(f32[], u32[])"]


def main(paths):
    entries = MARKS + WORDS
    for path in paths:
        with open(path, encoding="utf-8") as file:
            entries += re.findall(r'"([^"\\]+)"', re.sub(r"//[^\n]*", "", file.read()))
    for entry in dict.fromkeys(entries):
        print('"' + entry.replace("\\", "\\\\").replace('"', '\\"') + '"')


if __name__ == "__main__":
    main(sys.argv[1:])
