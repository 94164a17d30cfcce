"""What XLA HLO and StableHLO programs cost on a TPU: time, memory, padding, exposed communication; and what they compute.

>>> import hlosim
>>> m = hlosim.load("HloModule m\\nENTRY e { a = f32[8,128] parameter(0)  ROOT x = f32[8,128] add(a, a) }")
>>> report = m.report(device="v5e")
>>> report.time_us > 0, report.bound_by != ""
(True, True)

`load` reads modules, `Module` has what can be asked of one, `Report` the result of a simulation; `diff`, `sweep`, `gate` and
`assert_no_slower` hold runs against each other; `serving` simulates a model server; `hlosim.plot` draws. Wrong input raises `Error` with its
place.
docs/python.md has examples.
"""
from __future__ import annotations

import importlib as _importlib

from . import _core
from ._arrays import ArrayType, from_bfloat16_bits, numpy_type, to_bfloat16_bits
from ._compare import Comparison, compare
from ._device import Device, devices
from ._diff import Diff, diff
from ._errors import Error, Finding, HlosimWarning
from ._gate import Slower, assert_no_slower, gate
from ._jax import Compiled, aot, report
from ._layout import Layout
from ._load import load, load_all
from ._module import Advised, MemoryAnalysis, Module, Partitioned, Tuned
from ._report import Report
from ._serving import Serving, serving
from ._sweep import sweep
from ._table import Table

__version__: str = _core.version
#: Goes up whenever numbers of the model change.
model_version: int = _core.model_version

__all__ = ["Advised", "ArrayType", "Comparison", "Compiled", "Device", "Diff", "Error", "Finding", "HlosimWarning", "Layout",
           "MemoryAnalysis", "Module", "Partitioned",
           "Report", "Serving", "Slower", "Table", "Tuned", "aot", "assert_no_slower", "compare", "devices", "diff", "from_bfloat16_bits", "gate",
           "load", "load_all", "model_version", "numpy_type", "report", "serving", "sweep", "to_bfloat16_bits"]


def __getattr__(name: str):
    """``hlosim.plot`` without an import of its own; matplotlib is imported when something is drawn."""
    if name == "plot":
        return _importlib.import_module(__name__ + ".plot")
    raise AttributeError("module %r has no attribute %r" % (__name__, name))
