"""The result of a simulation of a module."""
from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Mapping, Optional, Tuple

from ._calls import refuse_inputs, write_text
from ._html import summary
from ._table import Table, as_frame


def _array_text(document: str, key: str) -> str:
    """The array under a key of the outermost object, byte for byte."""
    start = document.index('\n  "%s": ' % key) + len('\n  "%s": ' % key)
    _, end = json.JSONDecoder().raw_decode(document, start)
    return document[start:end]


class Report:
    """Time, what bounds it, traffic, memory, instructions, transfers and padding of one module on one device.

    `Module.report` makes them. Times are in microseconds, and with ``_ps`` integers in picoseconds; amounts in bytes.
    What isn't known is None. ``to_dict()`` has everything; docs/report.md explains each number.

    Attributes
    ----------
    module : Module
    """

    def __init__(self, text: str, module=None, device: Any = None, set: Optional[Mapping[str, Any]] = None,
                 options: Optional[Mapping[str, Any]] = None):
        self._text = text
        self._data = json.loads(text)
        self.module = module
        self._device, self._set, self._options = device, set, dict(options or {})
        self._advice: Optional[List[Dict[str, Any]]] = None

    @classmethod
    def from_json(cls, text: str) -> "Report":
        """A saved report; without its module it has no page, trace or text.

        Raises
        ------
        ValueError
            The text is not the JSON of a report.
        """
        data = json.loads(text)
        if not isinstance(data, dict) or not {"module", "device", "time", "comparison"} <= set(data):
            raise ValueError("no report: expects what to_json() or `hlosim report --format=json` of one module wrote")
        return cls(text)

    # ── The bottom line ──

    @property
    def time_ps(self) -> int:
        """How long a run takes [ps]."""
        return self._data["time"]["total_ps"]

    @property
    def time_us(self) -> float:
        """How long a run takes [us]."""
        return self.time_ps / 1e6

    @property
    def time_ms(self) -> float:
        """How long a run takes [ms]."""
        return self.time_ps / 1e9

    @property
    def range_ps(self) -> Optional[Tuple[int, int]]:
        """The 80 % prediction interval of `time_ps`, from errors measured on comparable programs; None: not known."""
        interval = self._data["time"].get("range_ps")
        return (interval["low"], interval["high"]) if interval else None

    @property
    def range_us(self) -> Optional[Tuple[float, float]]:
        """The same in microseconds."""
        return tuple(ps / 1e6 for ps in self.range_ps) if self.range_ps else None

    @property
    def flops_utilization(self) -> Optional[float]:
        """Matmul FLOP/s as a share of the device's bf16 peak."""
        return self._data["work"]["flops_utilisation"]

    @property
    def hbm_utilization(self) -> Optional[float]:
        """HBM bytes/s as a share of its bandwidth."""
        return self._data["traffic"]["hbm_utilisation"]

    @property
    def unspecified_flags(self) -> List[Dict[str, Any]]:
        """Compiler flags that the module does not record, with the assumed value and the time with another one."""
        return [dict(one) for one in self._data["flags_not_given"]]

    @property
    def loops(self) -> List[Dict[str, Any]]:
        """Each while loop with its trips and the time of all of them, as in the JSON report."""
        return [dict(one) for one in self._data["loops"]]

    @property
    def cycles(self) -> int:
        """The same in cycles of the TensorCore's clock."""
        return self._data["time"]["cycles"]

    @property
    def lower_bound_us(self) -> float:
        """Perfect-overlap bound: the time of the busiest unit [us]."""
        return self._data["time"]["lower_bound_ps"] / 1e6

    @property
    def bound_by(self) -> str:
        """The unit that bounds most of the time: "MXU", "HBM", …"""
        return self._data["time"]["bound_by"]

    @property
    def by_category_us(self) -> Dict[str, float]:
        """The time by category of work [us]: "matmul", "collective", "waiting", …"""
        return {name: ps / 1e6 for name, ps in self._data["time"]["by_category_ps"].items()}

    @property
    def by_unit_us(self) -> Dict[str, float]:
        """The time of the instructions that each unit bounds [us]; together with stalls, the time."""
        return {one["unit"]: one["bounds_ps"] / 1e6 for one in self._data["time"]["by_unit"]}

    @property
    def metrics(self) -> Dict[str, int]:
        """What ``hlosim diff`` and ``gate`` compare, in ps, bytes and counts: "time", "hbm_bytes", "peak.hbm", …"""
        return {one["metric"]: one["total"] for one in self._data["comparison"]["metrics"]}

    @property
    def exposed_communication_us(self) -> float:
        """Time in which collectives are not hidden: waiting for them, and all of synchronous ones [us]."""
        return self.metrics["exposed_collectives"] / 1e6

    @property
    def exposed_copies_us(self) -> float:
        """Time of waiting for copies [us]."""
        return self._data["time"]["exposed_copies_ps"] / 1e6

    @property
    def peak_memory(self) -> int:
        """The largest sum of arrays alive at once in HBM [bytes]."""
        return self.peak_memory_by_space.get("hbm", 0)

    @property
    def peak_memory_by_space(self) -> Dict[str, int]:
        """The same for each memory space that is used [bytes]."""
        return {one["name"]: one["peak_bytes"] for one in self._data["memory"]["spaces"]}

    @property
    def fits(self) -> Optional[bool]:
        """Everything fits into the device's memory."""
        return self._data["memory"]["fits"]

    @property
    def flops(self) -> int:
        """Floating-point operations: those of matmuls, and elementwise ones and reductions."""
        return self._data["work"]["flops"] + self._data["work"]["vector_operations"]

    @property
    def matmul_flops(self) -> int:
        """Floating-point operations of matmuls and convolutions."""
        return self._data["work"]["flops"]

    @property
    def hbm_bytes(self) -> int:
        """Read from and written to HBM [bytes]."""
        return self._data["traffic"]["hbm_bytes"]

    @property
    def assumptions(self) -> List[str]:
        """Assumptions that the numbers depend on."""
        return [one["text"] for one in self._data["assumptions"]]

    @property
    def advice(self) -> List[Dict[str, Any]]:
        """Changes that save time or memory, what saves most first; `Module.advise` lists the members of each.

        Trials take seconds, up to the 30 of ``hlosim advise``; they run at the first use.
        """
        if self.module is None:
            raise ValueError("a saved report has no module to simulate again")
        if self._advice is None:
            self._advice = self.module.advise(self._device, self._set, **self._options).advice
        return self._advice

    def cost_analysis(self) -> Dict[str, float]:
        """As `Module.cost_analysis`, of the module as it was given."""
        if self.module is None:
            raise ValueError("a saved report has no module to count")
        return self.module.cost_analysis()

    def memory_analysis(self):
        """As `Module.memory_analysis`, on the report's device."""
        if self.module is None:
            raise ValueError("a saved report has no module to analyse")
        return self.module.memory_analysis(self._device, self._set)

    # ── Tables ──

    def table(self, name: str) -> Table:
        """An array of the report's JSON: rows as dictionaries, with or without pandas.

        Parameters
        ----------
        name : str
            "instructions", "copies", "collectives", "padding" or another array of docs/report.md.

        Raises
        ------
        KeyError
            The report has no such array.
        """
        if not isinstance(self._data.get(name), list):
            raise KeyError(name)
        return Table(self._data[name], _array_text(self._text, name))

    def _frame(self, name: str):
        table = self.table(name)
        return as_frame(list(table), table.to_json())

    @property
    def instructions(self):
        """A row per instruction that runs, in order of first execution: a ``pandas.DataFrame``, or without pandas a `Table`."""
        return self._frame("instructions")

    @property
    def copies(self):
        """The same of asynchronous copies, in order of start."""
        return self._frame("copies")

    @property
    def collectives(self):
        """The same of collectives, in order of start."""
        return self._frame("collectives")

    @property
    def padding(self):
        """The same of arrays that take more than their elements need, the most padding first."""
        return self._frame("padding")

    # ── Other forms ──

    def to_json(self) -> str:
        """What ``hlosim report --format=json`` prints, byte for byte."""
        return self._text

    def to_dict(self) -> Dict[str, Any]:
        """That JSON as a dictionary of one's own."""
        return json.loads(self._text)

    def to_pandas(self):
        """The instructions as a ``pandas.DataFrame``.

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        return self.table("instructions").to_pandas()

    def _again(self, command: str, **own: Any) -> str:
        if self.module is None:
            raise ValueError("a saved report has no module to simulate again")
        return self.module._call(command, self._device, self._set, self._options, **own)

    def text(self, top: int = 10, timeline: bool = False) -> str:
        """The report for people; lists have `top` rows, 0: all."""
        return self._again("report", top=top, timeline=timeline)

    def _files(self) -> List[Optional[str]]:
        """The files that it was made from, as far as they are files."""
        device = getattr(self._device, "file", self._device)
        return [self.module.file if self.module is not None else None,
                None if device is None else os.fspath(device)]

    def save(self, path: "os.PathLike[str] | str") -> None:
        """Writes it: .html (one page, nothing loaded from anywhere), .json, .csv or .txt, by the name's end.

        Raises
        ------
        ValueError
            Another end.
        Error
            The file can't be written.
        """
        formats = {".html": "html", ".json": "json", ".csv": "csv", ".txt": "text"}
        suffix = os.path.splitext(os.fspath(path))[1].lower()
        if suffix not in formats:
            raise ValueError("%r: expects a name that ends in .html, .json, .csv or .txt" % os.fspath(path))
        if suffix == ".json":
            refuse_inputs(path, self._files())
            write_text(path, self._text)
        else:
            self._again("report", format=formats[suffix], output=os.path.abspath(path))

    def html(self) -> str:
        """The page that ``save("r.html")`` writes."""
        return self._again("report", format="html")

    def trace(self, path: "os.PathLike[str] | str", max_events: Optional[int] = None, *,
              format: Optional[str] = None) -> None:
        """Writes what runs when: .json or .json.gz (Chrome's format), .pftrace (Perfetto's), .svg (a picture).

        With ``format="xplane"`` `path` is a folder, which XProf and TensorBoard open as one that a profiler wrote.
        """
        self._again("trace", output=os.path.abspath(path), max_events=max_events, format=format)

    def trace_events(self, max_events: Optional[int] = None) -> List[Dict[str, Any]]:
        """What runs when, as events of Chrome's format: ``ts`` and ``dur`` in microseconds."""
        return json.loads(self._again("trace", max_events=max_events))["traceEvents"]

    def __repr__(self) -> str:
        return "<hlosim.Report %s on %s: %.4g us, bound by %s>" % (
            self._data["module"]["name"], self._data["device"]["name"], self.time_us, self.bound_by)

    def _repr_html_(self) -> str:
        return summary(self._data)
