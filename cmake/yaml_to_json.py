#!/usr/bin/env python3
"""A YAML file as JSON on one line, all scalars as texts: what src/base/yaml.wasm.cc reads.

  yaml_to_json.py FILE
"""
import json
import sys

import yaml


class Loader(yaml.BaseLoader):
    """Every scalar is the text that stands there, but for nothing at all."""


# As src/base/yaml.cc has it: no value, or one of these words without quotes.
Loader.add_implicit_resolver("tag:yaml.org,2002:null", yaml.SafeLoader.yaml_implicit_resolvers["~"][0][1], ["~", "n", "N", ""])
Loader.add_constructor("tag:yaml.org,2002:null", lambda loader, node: None)

with open(sys.argv[1], encoding="utf-8") as file:
    json.dump(yaml.load(file, Loader=Loader), sys.stdout, ensure_ascii=False)
