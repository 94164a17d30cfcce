"""Several reports side by side."""
from __future__ import annotations

import os
from typing import Any, Callable, List, Optional, Sequence, Tuple

from ._calls import call, refuse_inputs
from ._errors import needed
from ._html import bar, bytes_text, legend, table, time_text
from ._report import Report

# (title, how to show it, from a report)
_ROWS: Sequence[Tuple[str, Callable[[Any], str], Callable[[Report], Any]]] = (
    ("time", time_text, lambda one: one.time_ps),
    ("bound by", str, lambda one: one.bound_by),
    ("perfect-overlap bound", time_text, lambda one: one._data["time"]["lower_bound_ps"]),
    ("stalls on copies", time_text, lambda one: one._data["time"]["exposed_copies_ps"]),
    ("exposed collectives", time_text, lambda one: one.metrics["exposed_collectives"]),
    ("HBM traffic", bytes_text, lambda one: one.hbm_bytes),
    ("peak of HBM", bytes_text, lambda one: one.peak_memory),
    ("fits", lambda fits: {True: "yes", False: "no"}.get(fits, "unknown"), lambda one: one.fits),
)


class Comparison:
    """Reports side by side; `compare` makes them.

    Attributes
    ----------
    reports : list of Report
    names : list of str
    """

    def __init__(self, reports: Sequence[Report], names: Optional[Sequence[str]] = None):
        self.reports = list(reports)
        if not self.reports:
            raise ValueError("compare: no reports")
        for one in self.reports:
            if not isinstance(one, Report):
                raise TypeError("compare: expects reports, as m.report(device) gives them, not %s" % type(one).__name__)
        if names is not None and len(names) != len(self.reports):
            raise ValueError("compare: %d names for %d reports" % (len(names), len(self.reports)))
        self.names = list(names) if names is not None else [
            "%s on %s" % (one._data["module"]["name"], one._data["device"]["name"]) for one in self.reports]

    def to_pandas(self):
        """A column per report, a row per metric (``Report.metrics``), in ps, bytes and counts."""
        pandas = needed("pandas", "to_pandas()")
        return pandas.DataFrame([one.metrics for one in self.reports], index=self.names).T

    def save(self, path: "os.PathLike[str] | str") -> None:
        """Writes one page of all: a table side by side, bars by category, and each report."""
        if not os.fspath(path).endswith(".html"):
            raise ValueError("%r: expects a name that ends in .html" % os.fspath(path))
        refuse_inputs(path, [file for one in self.reports for file in one._files()])
        inputs = [("<%d>" % i, one.to_json(), []) for i, one in enumerate(self.reports)]
        call("report", inputs, {"format": "html", "output": os.path.abspath(path)})

    def __repr__(self) -> str:
        return "<hlosim.Comparison: %s>" % ", ".join(
            "%s %s" % (name, time_text(one.time_ps)) for name, one in zip(self.names, self.reports))

    def _repr_html_(self) -> str:
        most = max(one.time_ps for one in self.reports)
        used: List[str] = []
        for one in self.reports:
            used += [name for name, us in one.by_category_us.items() if us > 0 and name not in used]
        bars = "".join("<tr><td>%s</td><td style=\"width:60%%\">%s</td><td>%s</td></tr>" % (
            table((), [(name,)]), bar(one._data["time"]["by_category_ps"], most), time_text(one.time_ps))
                       for name, one in zip(self.names, self.reports))
        rows = [[title] + [show(of(one)) for one in self.reports] for title, show, of in _ROWS]
        return "%s<table>%s</table>%s" % (legend(used), bars, table([""] + self.names, rows))


def compare(*reports: Any, names: Optional[Sequence[str]] = None) -> Comparison:
    """Sets reports side by side: devices, meshes, before and after.

    Parameters
    ----------
    *reports : Report
        Or one list of them.
    names : sequence of str, optional
        By default module and device.

    Examples
    --------
    >>> import hlosim
    >>> m = hlosim.load("HloModule m\\nENTRY e { a = f32[8] parameter(0)  ROOT x = f32[8] add(a, a) }")
    >>> side_by_side = hlosim.compare([m.report(device) for device in ("v4", "v5e", "v5p")])
    >>> side_by_side.names
    ['m on TPU v4', 'm on TPU v5e', 'm on TPU v5p']
    """
    if len(reports) == 1 and not isinstance(reports[0], Report):
        if not hasattr(reports[0], "__iter__"):
            raise TypeError("compare: expects reports, as m.report(device) gives them, not %s" % type(reports[0]).__name__)
        reports = tuple(reports[0])
    return Comparison(reports, names)
