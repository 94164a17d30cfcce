"""Pictures of reports and layouts, with matplotlib.

Every function draws into `ax`, or into a new figure, and returns the ``matplotlib.axes.Axes``.

>>> import matplotlib
>>> matplotlib.use("Agg")
>>> import hlosim, hlosim.plot
>>> hlosim.plot.layout(hlosim.Layout("f32[8,256]{1,0:T(8,128)}")).get_title()
'f32[8,256]{1,0:T(8,128)}'
"""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence

from ._errors import needed
from ._html import COLOURS, bytes_text, time_text
from ._layout import Layout
from ._report import Report

_OTHER = "#6b7684"


def _axes(ax: Any, width: float, height: float):
    if ax is not None:
        return ax
    return needed("matplotlib.pyplot", "hlosim.plot").subplots(figsize=(width, height))[1]


def _tracks(events: Sequence[Dict[str, Any]]) -> Dict[int, str]:
    """Names of the tracks, in their order."""
    names = {one["tid"]: one["args"]["name"] for one in events if one["ph"] == "M" and one["name"] == "thread_name"}
    order = {one["tid"]: one["args"]["sort_index"] for one in events
             if one["ph"] == "M" and one["name"] == "thread_sort_index"}
    return {tid: names[tid] for tid in sorted(names, key=lambda tid: order.get(tid, tid))}


def timeline(report: Report, ax: Any = None, max_events: int = 20000):
    """What runs when: a lane for the TensorCore, each unit, DMA direction and link.

    Parameters
    ----------
    report : Report
        With its module.
    ax : matplotlib.axes.Axes, optional
    max_events : int
        Slices at most; beyond, loops show their first iterations only.
    """
    events = report.trace_events(max_events)
    tracks = _tracks(events)
    slices = [one for one in events if one["ph"] == "X"]
    used = [tid for tid in tracks if any(one["tid"] == tid for one in slices)]
    ax = _axes(ax, 10, 0.5 + 0.35 * len(used))
    seen: Dict[str, str] = {}
    for lane, tid in enumerate(used):
        by_colour: Dict[str, List] = {}
        for one in slices:
            if one["tid"] == tid:
                category = "waiting" if one.get("cat") == "wait" else one.get("cat", "")
                colour = COLOURS.get(category, _OTHER)
                if category in COLOURS:
                    seen[category] = colour
                by_colour.setdefault(colour, []).append((one["ts"], one["dur"]))
        for colour, spans in by_colour.items():
            ax.broken_barh(spans, (lane - 0.4, 0.8), facecolors=colour, linewidth=0)
    ax.set_yticks(range(len(used)))
    ax.set_yticklabels([tracks[tid] for tid in used])
    ax.invert_yaxis()
    ax.set_xlabel("time [us]")
    ax.set_title(repr(report)[1:-1].replace("hlosim.Report ", ""))
    handles = [_patch(colour, name) for name, colour in seen.items()]
    if handles:
        ax.legend(handles=handles, fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
    return ax


def _patch(colour: str, label: str):
    from matplotlib.patches import Patch

    return Patch(facecolor=colour, label=label)


def roofline(report: Report, space: str = "hbm", ax: Any = None):
    """Operations with matmuls by FLOP per byte of a memory space and FLOP/s, under the device's roofs.

    The area of a point is its time.
    """
    ax = _axes(ax, 7, 4.5)
    data = report.to_dict()
    peak = data["device"]["peak_flops_per_second"]
    roof = next((one for one in data["traffic"]["roofline"] if one["space"] == space), None)
    points = []
    for row in data["instructions"]:
        moved = sum(one["read_bytes"] + one["written_bytes"] for one in row["traffic"] if one["space"] == space)
        if row["flops"] and moved and row["self_time_ps"]:
            points.append((row["flops"] / moved, row["flops"] / (row["self_time_ps"] * 1e-12), row))
    total = max(report.time_ps, 1)
    for x, y, row in points:
        ax.scatter([x], [y], s=20 + 600 * row["self_time_ps"] / total, color=COLOURS.get(row["category"], _OTHER),
                   alpha=0.7, linewidth=0)
    if roof and peak:
        rate, ridge = roof["bytes_per_second"], roof["ridge_flops_per_byte"]
        low = min([x for x, _, _ in points] + [ridge / 100])
        high = max([x for x, _, _ in points] + [ridge * 100])
        ax.plot([low, ridge, high], [low * rate, peak, peak], color="black", linewidth=1)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("FLOP per byte of %s" % space)
    ax.set_ylabel("FLOP/s")
    ax.set_title("%s on %s" % (data["module"]["name"], data["device"]["name"]))
    return ax


def memory(report: Report, ax: Any = None):
    """The peak of each memory space of known capacity, and what is alive then, the largest first; the rest is grey."""
    spaces = [one for one in report.to_dict()["memory"]["spaces"] if one["peak_bytes"] > 0 and one["capacity_bytes"]]
    ax = _axes(ax, 8, 0.8 + 0.7 * len(spaces))
    for lane, space in enumerate(spaces):
        left = 0
        whole = space["capacity_bytes"]
        for i, one in enumerate(space["largest"]):
            ax.barh(lane, one["bytes"] / whole, left=left / whole, height=0.6, color="C%d" % (i % 10), linewidth=0)
            left += one["bytes"]
        rest = space["peak_bytes"] - left
        ax.barh(lane, rest / whole, left=left / whole, height=0.6, color=_OTHER, linewidth=0)
        ax.annotate(" %s of %s at %s" % (bytes_text(space["peak_bytes"]), bytes_text(whole), space["peak_instruction"]),
                    (max(space["peak_bytes"] / whole, 0), lane - 0.42), fontsize="small", va="bottom",
                    ha="left" if space["peak_bytes"] < 0.5 * whole else "right")
    ax.axvline(1, color="black", linewidth=1)
    ax.set_yticks(range(len(spaces)))
    ax.set_yticklabels([one["name"] for one in spaces])
    ax.invert_yaxis()
    ax.set_xlabel("share of the capacity")
    return ax


def categories(*reports: Report, names: Optional[Sequence[str]] = None, ax: Any = None):
    """A bar per report: its time by category."""
    ax = _axes(ax, 8, 0.8 + 0.5 * len(reports))
    names = list(names) if names else [one.to_dict()["device"]["name"] for one in reports]
    lefts = [0.0] * len(reports)
    for category, colour in COLOURS.items():
        widths = [one.by_category_us.get(category, 0.0) for one in reports]
        if any(widths):
            ax.barh(range(len(reports)), widths, left=lefts, color=colour, label=category, linewidth=0)
            lefts = [left + width for left, width in zip(lefts, widths)]
    ax.set_yticks(range(len(reports)))
    ax.set_yticklabels(["%s  %s" % (name, time_text(one.time_ps)) for name, one in zip(names, reports)])
    ax.invert_yaxis()
    ax.set_xlabel("time [us]")
    ax.legend(fontsize="small")
    return ax


def layout(layout: "Layout | str", ax: Any = None, most: int = 65536):
    """A layout drawn as tiles: each element coloured by its slot, lines where tiles end.

    Parameters
    ----------
    layout : Layout or str
        Of at most two dimensions that aren't 1.
    most : int
        Slots that are drawn at most.

    Raises
    ------
    ValueError
        More dimensions, or more slots.
    """
    numpy = needed("numpy", "plot.layout")
    layout = layout if isinstance(layout, Layout) else Layout(layout)
    wide = [d for d, size in enumerate(layout.shape) if size != 1]
    if len(wide) > 2 or layout.extent > most:
        raise ValueError("%s: expects at most 2 dimensions that aren't 1, and %d slots" % (layout, most))
    rows, columns = ([1] * (2 - len(wide)) + [layout.shape[d] for d in wide])
    slots = numpy.zeros((rows, columns))
    for row in range(rows):
        for column in range(columns):
            index = [0] * len(layout.shape)
            for d, value in zip(reversed(wide), (column, row)):
                index[d] = value
            slots[row, column] = layout.offset(*index)
    ax = _axes(ax, 8, max(1.5, min(6, 8 * rows / max(columns, 1))))
    image = ax.imshow(slots, aspect="auto", interpolation="nearest", cmap="viridis", vmin=0, vmax=layout.extent)
    ax.figure.colorbar(image, ax=ax, label="slot")
    ax.set_xlabel("most minor dimension" if len(wide) < 2 else "dimension %d" % wide[-1])
    ax.set_ylabel("dimension %d" % wide[0] if len(wide) == 2 else "")
    padding = layout.extent - slots.size
    ax.set_title("%s%s" % (layout, "\n%d of %d slots are padding" % (padding, layout.extent) if padding else ""))
    # Where the most minor tile ends: the steps of one slot along the last dimension.
    steps = numpy.flatnonzero(numpy.abs(numpy.diff(slots[0])) > numpy.median(numpy.abs(numpy.diff(slots[0])))) \
        if columns > 1 else []
    for step in steps:
        ax.axvline(step + 0.5, color="white", linewidth=0.8)
    down = numpy.abs(numpy.diff(slots[:, 0])) if rows > 1 else numpy.zeros(0)
    for step in numpy.flatnonzero(down > numpy.max(down) * 0.5) if down.size and down.max() > down.min() else []:
        ax.axhline(step + 0.5, color="white", linewidth=0.8)
    return ax
