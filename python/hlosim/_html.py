"""Summaries for notebooks: plain HTML, nothing loaded from anywhere, no script."""
from __future__ import annotations

from html import escape
from typing import Any, Dict, Iterable, List, Sequence

# Colours of the page (src/report/html/style.css).
COLOURS = {"matmul": "#2f66cf", "vector": "#1b8053", "data movement": "#a66300", "collective": "#8347c4",
           "host": "#0f7f8f", "custom call": "#a8456b", "control": "#6b7684", "waiting": "#cc3b31"}


def time_text(ps: float) -> str:
    """1.234 us of picoseconds.

    >>> time_text(12306727), time_text(0)
    ('12.31 us', '0 ps')
    """
    for unit, size in (("s", 1e12), ("ms", 1e9), ("us", 1e6), ("ns", 1e3)):
        if abs(ps) >= size:
            return "%.4g %s" % (ps / size, unit)
    return "%d ps" % ps


def bytes_text(count: float) -> str:
    """1.5 MiB of bytes.

    >>> bytes_text(1572864), bytes_text(3)
    ('1.5 MiB', '3 B')
    """
    for unit, size in (("TiB", 2 ** 40), ("GiB", 2 ** 30), ("MiB", 2 ** 20), ("KiB", 2 ** 10)):
        if abs(count) >= size:
            return "%.4g %s" % (count / size, unit)
    return "%d B" % count


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "<table><thead><tr>%s</tr></thead><tbody>%s</tbody></table>" % (
        "".join("<th>%s</th>" % escape(one) for one in head),
        "".join("<tr>%s</tr>" % "".join("<td>%s</td>" % escape(str(one)) for one in row) for row in rows))


def bar(by_category: Dict[str, int], whole: int) -> str:
    """A bar with a part per category; `whole` is as wide as it gets."""
    parts = [(name, ps) for name, ps in sorted(by_category.items(), key=lambda one: -one[1]) if ps > 0]
    spans = "".join('<span title="%s: %s" style="display:inline-block;height:14px;width:%.3f%%;background:%s"></span>'
                    % (escape(name), time_text(ps), 100 * ps / whole, COLOURS.get(name, "#6b7684"))
                    for name, ps in parts) if whole > 0 else ""
    return '<div style="width:100%%;max-width:40em;white-space:nowrap;font-size:0">%s</div>' % spans


def legend(names: Iterable[str]) -> str:
    return "<p>%s</p>" % " ".join(
        '<span style="display:inline-block;width:10px;height:10px;background:%s"></span> %s' % (
            COLOURS.get(name, "#6b7684"), escape(name)) for name in names)


def summary(report: Dict[str, Any]) -> str:
    """What a person sees first of a report (its JSON as a dictionary)."""
    time, memory, traffic = report["time"], report["memory"], report["traffic"]
    total = time["total_ps"]

    def share(ps: int) -> str:
        return ", %.1f %%" % (100 * ps / total) if total else ""

    rows: List[Sequence[str]] = [
        ("time", "%s (%s cycles)" % (time_text(total), format(time["cycles"], ","))),
        ("bound by", time["bound_by"] + share(time["bound_by_ps"])),
        ("perfect-overlap bound", time_text(time["lower_bound_ps"])),
        ("stalls on copies", time_text(time["exposed_copies_ps"]) + share(time["exposed_copies_ps"])),
        ("stalls on collectives",
         time_text(time["exposed_collectives_ps"]) + share(time["exposed_collectives_ps"])),
        ("HBM traffic", bytes_text(traffic["hbm_bytes"])),
        ("FLOP in matmuls", format(report["work"]["flops"], ",")),
    ]
    spaces = [(one["name"], bytes_text(one["peak_bytes"]),
               "unknown" if one["capacity_bytes"] is None else bytes_text(one["capacity_bytes"]),
               one["peak_instruction"] or "") for one in memory["spaces"]]
    findings = "".join("<p><strong>Does not fit.</strong> %s</p>" % escape(one) for one in report["findings"])
    used = [name for name, ps in time["by_category_ps"].items() if ps > 0]
    longest = sorted(report["instructions"], key=lambda one: -one["self_time_ps"])[:5]
    return "".join([
        "<div><h4>%s on %s</h4>" % (escape(report["module"]["name"]), escape(report["device"]["name"])), findings,
        bar(time["by_category_ps"], total), legend(used), table(("", ""), rows),
        table(("memory", "peak", "capacity", "peak at"), spaces) if spaces else "",
        table(("longest operations", "opcode", "time", "bound by"),
              [(one["name"], one["opcode"], time_text(one["self_time_ps"]) + share(one["self_time_ps"]),
                one["bound_by"]) for one in longest]) if longest else "", "</div>"])
