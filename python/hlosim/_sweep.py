"""Experiments: modules × devices × values of any setting."""
from __future__ import annotations

import json
import os
import re
import sys
import time
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from . import _core
from ._calls import Input, options_line, text_of
from ._errors import check, needed, wrong
from ._module import Module


class _Bar:
    """A progress line on standard error; none where that is not a terminal or notebook."""

    def __init__(self, wanted: Optional[bool]):
        is_notebook = "ipykernel" in sys.modules
        self.wanted = (sys.stderr.isatty() or is_notebook) if wanted is None else wanted
        self.start, self.shown = time.monotonic(), False

    def __call__(self, done: int, total: int) -> None:
        if not self.wanted or not total:
            return
        passed = time.monotonic() - self.start
        if passed < 0.5 and not self.shown:
            return
        left = "" if done == 0 else ", %.0f s left" % (passed / done * (total - done))
        full = 30 * done // total
        sys.stderr.write("\r[%s%s] %d of %d points%s   " % ("#" * full, " " * (30 - full), done, total, left))
        sys.stderr.flush()
        self.shown = True

    def close(self) -> None:
        if self.shown:
            sys.stderr.write("\r" + " " * 79 + "\r")
            sys.stderr.flush()


def _modules(modules: Any) -> List[Input]:
    """Modules by their names: objects, and texts of a dictionary; paths have no text."""
    given = dict(modules) if isinstance(modules, Mapping) else modules
    if isinstance(given, (Module, str)) or hasattr(given, "__fspath__"):
        given = [given]
    if not hasattr(given, "__iter__"):
        raise TypeError("modules: expects a module, a path, a list of them or a dictionary of texts, not %r" % (given,))
    pairs = list(given.items()) if isinstance(given, dict) else [(None, one) for one in given]
    inputs: List[Input] = []
    for name, one in pairs:
        if isinstance(one, Module):
            unique = name or one.name
            while any(unique == other[0] for other in inputs):
                unique += "'"
            inputs.append((unique, one.text(), []))
        elif name is not None:
            inputs.append((name, one, []))
        else:
            inputs.append((os.path.abspath(os.fspath(one)), None, []))
    return inputs


def _experiment(inputs: Sequence[Input], devices: Any, axes: Mapping[str, Any]) -> str:
    """The experiment as YAML, of which JSON is a part."""
    def listed(values: Any) -> List[str]:
        several = isinstance(values, (list, tuple, range)) or hasattr(values, "tolist")
        return [text_of(one) for one in (values if several else [values])]

    experiment: Dict[str, Any] = {"name": "sweep", "modules": [one[0] for one in inputs], "devices": listed(devices)}
    for key in ("set", "knobs", "text"):
        if axes.get(key):
            if not isinstance(axes[key], Mapping):
                raise TypeError("%s: expects a dictionary of names and their values, not %r" % (key, axes[key]))
            experiment[key] = {name: listed(values) for name, values in axes[key].items()}
    if axes.get("objectives"):
        experiment["objectives"] = listed(axes["objectives"])
    return json.dumps(experiment, ensure_ascii=False)


def _frame(text: str):
    pandas = needed("pandas", "hlosim.sweep")
    document = json.loads(text)
    rows = []
    for point in document["points"]:
        row = {"module": point["module"], "device": point["device"]}
        row.update(point["settings"])
        row.update(point.get("metrics") or {})
        row["error"] = point.get("error")
        row["front"] = point["front"]
        rows.append(row)
    frame = pandas.DataFrame(rows)
    units = {one["name"]: one["unit"] for one in document["metrics"]}
    settings = {name for point in document["points"] for name in point["settings"]}
    for name in settings:
        values, unit = _numbers(list(frame[name]))
        if values is not None:
            frame[name], units[name] = values, unit
    # Times have their unit in the name, as in the CSV.
    names = {name: name + "_ps" for name, unit in units.items() if unit == "ps" and not name.endswith("_ps") and name not in settings}
    frame = frame.rename(columns=names)
    frame.attrs["units"] = {names.get(name, name): unit for name, unit in units.items()}
    return frame


_PREFIXES = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40,
             "m": 1e-3, "u": 1e-6, "n": 1e-9, "p": 1e-12}
_NUMBER = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(.*?)\s*$")


def _number(text: str) -> Optional[Tuple[float, str]]:
    """``"16 MiB"`` → (16777216, "B"): the number in the unit without prefix; None: no number.

    >>> _number("400 GB/s"), _number("16 MiB"), _number("2"), _number("T(8,128)")
    ((400000000000.0, 'B/s'), (16777216, 'B'), (2, ''), None)
    """
    found = _NUMBER.match(text)
    if not found:
        return None
    digits, unit = found.groups()
    number = float(digits) if set(digits) & set(".eE") else int(digits)
    for base in ("B/s", "B/cycle", "B", "Hz", "s", "cycles", "J", "W", "%", ""):
        prefix = unit[:len(unit) - len(base)] if unit.endswith(base) else None
        if prefix in _PREFIXES and (base or not prefix):
            value = number * _PREFIXES[prefix]
            return (int(value) if base == "B" and value == int(value) else value), base
    return None


def _numbers(texts: List[Any]) -> Tuple[Optional[List[Any]], str]:
    """The values of an axis as numbers of one unit, or as booleans; (None, ""): they are neither."""
    if all(text in ("true", "false") for text in texts):
        return [text == "true" for text in texts], ""
    numbers = [_number(text) if isinstance(text, str) else None for text in texts]
    if any(one is None for one in numbers) or len({one[1] for one in numbers}) != 1:
        return None, ""
    return [one[0] for one in numbers], numbers[0][1]


def sweep(modules: Any, devices: Any = None, set: Optional[Mapping[str, Sequence[Any]]] = None,
          knobs: Optional[Mapping[str, Sequence[Any]]] = None, text: Optional[Mapping[str, Sequence[Any]]] = None, *,
          objectives: Optional[Sequence[str]] = None, front: bool = False, journal: Optional[str] = None,
          threads: Optional[int] = None, max_seconds: Optional[float] = None,
          progress: Union[None, bool, Callable[[int, int], None]] = None):
    """Simulates every combination on all processors.

    Parameters
    ----------
    modules : list of Module or paths, a dictionary name → Module or text, or the path of an experiment (.yaml)
        Texts may hold ``${name}`` for values of `text`.
    devices : str or list of str
        Built-in devices or device files.
    set : dict, optional
        Keys of the device, each with its values: ``{"memory.vmem.capacity": ["16 MiB", "32 MiB"]}``.
    knobs : dict, optional
        What is done to the modules before: ``{"lower": [True, False]}`` (docs/sweep.md).
    text : dict, optional
        Values of ``${name}`` in the texts.
    objectives : list of str, optional
        Metrics of which less is better; by default those of docs/sweep.md.
    front : bool
        Only points that no other one beats in all objectives.
    journal : str, optional
        A file that keeps results for the next run of the same.
    threads : int, optional
    max_seconds : float, optional
        End with an error after this time.
    progress : bool or callable, optional
        A bar on standard error (by default where it is a terminal or a notebook), or what is called now and then with
        the number of points done and of all.

    Returns
    -------
    pandas.DataFrame
        A row per point: module, device, settings, metrics, ``error`` of points that failed, ``front``. Times are in
        picoseconds (``time_ps``); settings that are numbers are numbers, in the unit without prefix: ``"400 GB/s"`` is 4e11.
        ``frame.attrs["units"]`` has the unit of each.

    Examples
    --------
    >>> import hlosim
    >>> m = hlosim.load("HloModule m\\nENTRY e { a = f32[8] parameter(0)  ROOT x = f32[8] add(a, a) }")
    >>> frame = hlosim.sweep([m], ["v4", "v5e"], progress=False)
    >>> list(frame.device), int(frame.time_ps.min()) > 0
    (['v4', 'v5e'], True)
    """
    needed("pandas", "hlosim.sweep")  # before the work, not after it
    names: List[str] = []
    inputs: List[Input] = []
    if isinstance(modules, str) and modules.endswith((".yaml", ".yml")) and devices is None:
        names = [modules]
    elif devices is None:
        raise TypeError("sweep: devices are missing")
    else:
        inputs = _modules(modules)
        if not inputs:
            raise ValueError("sweep: no modules")
        axes = {"set": set, "knobs": knobs, "text": text, "objectives": objectives}
        names = ["<sweep>"]
        experiment = ("<sweep>", _experiment(inputs, devices, axes), [])
        inputs = [experiment] + [one for one in inputs if one[1] is not None]
    bar = progress if callable(progress) else _Bar(progress)
    options = {"format": "json", "front": front, "journal": journal, "no_journal": journal is None, "threads": threads}
    try:
        document = _call_sweep(names, inputs, options, max_seconds, bar)
    finally:
        if isinstance(bar, _Bar):
            bar.close()
    return _frame(document)


def _call_sweep(names, inputs, options, max_seconds, bar) -> str:
    line = ["sweep"] + options_line(options) + ["--"] + names
    code, out, err, findings = _core.call(line, inputs, max_seconds, bar)
    check(code, findings, err, worst=1)  # 1: some points failed, which their rows say
    if not out:
        raise wrong(err.strip() or "the sweep failed")
    return out.decode("utf-8", "replace")
