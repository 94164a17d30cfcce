"""Rows of a report."""
from __future__ import annotations

import html
import json
from typing import Any, Dict, Iterator, List

from ._errors import needed


def flat(row: Dict[str, Any]) -> Dict[str, Any]:
    """A row with one value a column: what moves in a memory space becomes ``hbm_read_bytes`` and so on."""
    values: Dict[str, Any] = {}
    for key, value in row.items():
        if key == "traffic" and isinstance(value, list):
            for one in value:
                for what in ("read_bytes", "written_bytes"):
                    values["%s_%s" % (one["space"], what)] = one[what]
        else:
            values[key] = value
    return values


def as_frame(rows: List[Dict[str, Any]], text: str = ""):
    """A ``pandas.DataFrame`` of the rows where pandas is installed, else a `Table`.

    A column per value; what moves in a memory space is a column per space and direction, 0 where there is none.
    """
    try:
        import pandas
    except ImportError:
        return Table(rows, text)
    frame = pandas.DataFrame([flat(row) for row in rows])
    traffic = [name for name in frame.columns if name.endswith(("_read_bytes", "_written_bytes"))]
    frame[traffic] = frame[traffic].fillna(0).astype("int64")
    return frame


class Table:
    """Rows with named columns, as a report's JSON has them.

    ``len(table)``, ``table[3]`` (a row as a dictionary), ``table["time_ps"]`` (a column as a list), iteration over
    rows. Times are integers in picoseconds, amounts in bytes; None is unknown.

    Examples
    --------
    >>> table = Table([{"name": "a", "time_ps": 5}, {"name": "b", "time_ps": 7}])
    >>> len(table), table[1], table["time_ps"]
    (2, {'name': 'b', 'time_ps': 7}, [5, 7])
    """

    def __init__(self, rows: List[Dict[str, Any]], text: str = ""):
        self._rows = rows
        self._text = text or json.dumps(rows)

    @property
    def columns(self) -> List[str]:
        """Names of the columns, in the order of the JSON."""
        names: Dict[str, None] = {}
        for row in self._rows:
            names.update(dict.fromkeys(row))
        return list(names)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        return iter(self._rows)

    def __getitem__(self, key):
        if isinstance(key, str):
            if key not in self.columns:
                raise KeyError(key)
            return [row.get(key) for row in self._rows]
        return self._rows[key]

    def to_dict(self) -> Dict[str, List[Any]]:
        """The columns: name → list of values."""
        return {name: [row.get(name) for row in self._rows] for name in self.columns}

    def to_json(self) -> str:
        """The array of the report's JSON, byte for byte."""
        return self._text

    def to_pandas(self):
        """A ``pandas.DataFrame``; traffic as a column per memory space and direction.

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        needed("pandas", "to_pandas()")
        return as_frame(self._rows)

    def head(self, n: int = 5) -> "Table":
        """The first `n` rows.

        Examples
        --------
        >>> Table([{"time_ps": 5}, {"time_ps": 7}]).head(1)["time_ps"]
        [5]
        """
        return Table(self._rows[:n])

    def sort_values(self, by: str, ascending: bool = True) -> "Table":
        """The rows in the order of a column; rows without a value come last, as pandas has it.

        Examples
        --------
        >>> Table([{"time_ps": 5}, {"time_ps": None}, {"time_ps": 7}]).sort_values("time_ps", ascending=False)["time_ps"]
        [7, 5, None]

        Raises
        ------
        KeyError
            There is no such column.
        """
        self[by]
        known = [row for row in self._rows if row.get(by) is not None]
        unknown = [row for row in self._rows if row.get(by) is None]
        return Table(sorted(known, key=lambda row: row[by], reverse=not ascending) + unknown)

    def __repr__(self, most: int = 10) -> str:
        names = [name for name in self.columns if not isinstance(self._rows[0].get(name), (list, dict))]
        rows = [names] + [["" if row.get(name) is None else str(row[name]) for name in names]
                          for row in self._rows[:most]]
        widths = [max((len(row[i]) for row in rows), default=0) for i in range(len(names))]
        lines = ["<Table: %d rows of %s>" % (len(self), ", ".join(self.columns))]
        if names:
            lines += ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
        if len(self) > most:
            lines.append("%d more rows" % (len(self) - most))
        return "\n".join(lines)

    def _repr_html_(self, most: int = 50) -> str:
        shown = [flat(row) for row in self._rows[:most]]
        names: Dict[str, None] = {}
        for row in shown:
            names.update(dict.fromkeys(row))
        head = "".join("<th>%s</th>" % html.escape(name) for name in names)
        body = "".join("<tr>%s</tr>" % "".join("<td>%s</td>" % html.escape("" if row.get(name) is None else str(row[name]))
                                                 for name in names) for row in shown)
        more = "" if len(self) <= most else "<p>%d more rows</p>" % (len(self) - most)
        return "<table><thead><tr>%s</tr></thead><tbody>%s</tbody></table>%s" % (head, body, more)
