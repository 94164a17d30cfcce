"""What a simulation says of a module."""
from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Mapping, Optional

from ._calls import refuse_inputs, write_text
from ._html import summary
from ._table import Table


def _array_text(document: str, key: str) -> str:
    """The array under a key of the outermost object, as it stands in the text."""
    start = document.index('\n  "%s": ' % key) + len('\n  "%s": ' % key)
    _, end = json.JSONDecoder().raw_decode(document, start)
    return document[start:end]


class Report:
    """Time, what bounds it, traffic, memory, instructions, transfers and padding of one module on one device.

    `Module.report` makes them. Times are in microseconds, and with ``_ps`` integers in picoseconds; amounts in bytes.
    What isn't known is None. ``to_dict()`` has everything; docs/report.md says what each number means.

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
            The text is no report's JSON.
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
    def cycles(self) -> int:
        """The same in cycles of the TensorCore's clock."""
        return self._data["time"]["cycles"]

    @property
    def lower_bound_us(self) -> float:
        """How long the busiest unit alone works [us]."""
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
        """What the numbers rest on and nobody has said."""
        return [one["text"] for one in self._data["assumptions"]]

    @property
    def advice(self) -> List[Dict[str, Any]]:
        """Changes that save time or memory, what saves most first; `Module.advise` says what each has.

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

    def _table(self, key: str) -> Table:
        return Table(self._data[key], _array_text(self._text, key))

    @property
    def instructions(self) -> Table:
        """A row per instruction that runs, in order of first execution."""
        return self._table("instructions")

    @property
    def copies(self) -> Table:
        """A row per asynchronous copy, in order of start."""
        return self._table("copies")

    @property
    def collectives(self) -> Table:
        """A row per collective, in order of start."""
        return self._table("collectives")

    @property
    def padding(self) -> Table:
        """A row per array that takes more than its elements need, the dearest first."""
        return self._table("padding")

    # ── Other forms ──

    def to_json(self) -> str:
        """What ``hlosim report --format=json`` prints, byte for byte."""
        return self._text

    def to_dict(self) -> Dict[str, Any]:
        """That JSON as a dictionary of one's own."""
        return json.loads(self._text)

    def to_pandas(self):
        """The instructions as a ``pandas.DataFrame``."""
        return self.instructions.to_pandas()

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
