"""What changed between two runs."""
from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Mapping, Optional, Union

from ._calls import call, refuse_inputs
from ._html import bytes_text, table, time_text
from ._load import load
from ._module import Module
from ._report import Report
from ._table import Table


def _amount(unit: str, value: int) -> str:
    return time_text(value) if unit == "ps" else bytes_text(value) if unit == "bytes" else format(value, ",")


class Diff:
    """A comparison of two reports, made by `diff`. docs/diff.md explains each number."""

    def __init__(self, before: Report, after: Report):
        self.before, self.after = before, after
        self._text = self._print("json")
        self._data = json.loads(self._text)

    def _print(self, format: str, **options: Any) -> str:
        inputs = [("<before>", self.before.to_json(), []), ("<after>", self.after.to_json(), [])]
        return call("diff", inputs, dict(options, format=format))

    @property
    def metrics(self) -> Dict[str, Dict[str, Any]]:
        """By the names of ``Report.metrics``: "before", "after", "change", "unit", in ps, bytes and counts."""
        return {one["metric"].removesuffix("_ps"): one for one in self._data["metrics"]}

    def change(self, metric: str = "time") -> int:
        """By how much a metric rose, in its unit; negative: it fell.

        Raises
        ------
        KeyError
            Neither run has it.
        """
        return self.metrics[metric]["change"]

    @property
    def instructions(self) -> Table:
        """A row per instruction of either run."""
        return Table(self._data["instructions"])

    @property
    def same_device(self) -> bool:
        """Both runs are on the same device."""
        return self._data["same_device"]

    @property
    def same_model(self) -> bool:
        """Both come from the same version of the model."""
        return self._data["same_model"]

    def text(self, top: int = 10) -> str:
        """For people: each metric, and the instructions that its change comes from."""
        return self._print("text", top=top)

    def markdown(self, top: int = 10) -> str:
        """The same in Markdown."""
        return self._print("markdown", top=top)

    def to_json(self) -> str:
        """What ``hlosim diff --format=json`` prints of the two reports, byte for byte."""
        return self._text

    def to_dict(self) -> Dict[str, Any]:
        """That JSON as a dictionary of one's own."""
        return json.loads(self._text)

    def save(self, path: "os.PathLike[str] | str") -> None:
        """Writes it: .html (a page that begins with the difference), .json, .md or .txt."""
        formats = {".html": "html", ".json": "json", ".md": "markdown", ".txt": "text"}
        suffix = os.path.splitext(os.fspath(path))[1].lower()
        if suffix not in formats:
            raise ValueError("%r: expects a name that ends in .html, .json, .md or .txt" % os.fspath(path))
        refuse_inputs(path, self.before._files() + self.after._files())
        self._print(formats[suffix], output=os.path.abspath(path))

    def __repr__(self) -> str:
        time = self.metrics["time"]
        return "<hlosim.Diff: %s → %s>" % (time_text(time["before"]), time_text(time["after"]))

    def _repr_html_(self) -> str:
        rows: List[List[str]] = []
        for name, one in self.metrics.items():
            if one["before"] or one["after"]:
                amounts = [_amount(one["unit"], one[key]) for key in ("before", "after", "change")]
                share = " (%+.1f %%)" % (100 * one["change"] / one["before"]) if one["before"] else ""
                rows.append([name, amounts[0], amounts[1], ("+" if one["change"] > 0 else "") + amounts[2] + share])
        return table(("", "before", "after", "change"), rows)


def as_report(x: Any, device: Any, options: Mapping[str, Any]) -> Report:
    """A report, or that of a module, or of what `load` takes."""
    if isinstance(x, Report):
        return x
    module = x if isinstance(x, Module) else load(x)
    if isinstance(module, list):
        raise ValueError("%d modules, expected one" % len(module))
    if device is None:
        raise TypeError("a device is needed to simulate a module: device=\"v5e\"")
    return module.report(device, **options)


def diff(before: Union[Report, Module, Any], after: Union[Report, Module, Any], device: Any = None,
         set: Optional[Mapping[str, Any]] = None, **options: Any) -> Diff:
    """Holds two runs against each other: every metric, and which instructions its change comes from, exactly.

    Parameters
    ----------
    before, after : Report, Module, or what `load` takes
        Modules are simulated on `device`.
    device, set, **options
        As of `Module.report`.

    Returns
    -------
    Diff

    Examples
    --------
    >>> import hlosim
    >>> m = hlosim.load("HloModule m\\nENTRY e { a = f32[8] parameter(0)  ROOT x = f32[8] add(a, a) }")
    >>> hlosim.diff(m, m, device="unit").change("time")
    0
    """
    options = dict(options, set=set)
    return Diff(as_report(before, device, options), as_report(after, device, options))
