"""Tables of a page: HTML with a caption and scopes, plain text in a terminal, and a line that says where it is from.

Left out: sorting, paging, and cells that hold markup.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, TypeAlias

from ragkit.figures import is_interval
from ragkit.show.cells import column, is_number
from ragkit.show.provenance import Source, provenance, provenance_html

Rows: TypeAlias = Sequence[Mapping[str, Any]] | tuple[Sequence[str], Sequence[Sequence[Any]]]


@dataclass(frozen=True, slots=True)
class Table:
    """A finished table: cells are text, ``numeric`` says which columns are aligned right."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...]
    caption: str | None
    provenance: tuple[str, str]

    def _repr_html_(self) -> str:
        name = escape(self.caption or "Table", quote=True)
        head = "".join(
            f'<th scope="col"{_right(n)}>{escape(h)}</th>' for h, n in zip(self.header, self.numeric, strict=True)
        )
        body = "".join(f"<tr>{self._row(row)}</tr>" for row in self.rows)
        caption = f"<caption><span>{escape(self.caption)}</span></caption>" if self.caption else ""
        # The box scrolls, the page does not; tabindex lets a keyboard reach what is scrolled out of sight.
        return (
            f'<div class="rk-table"><div class="rk-scroll" role="region" tabindex="0" aria-label="{name}">'
            f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
            f"{provenance_html(*self.provenance)}</div>"
        )

    def _row(self, row: tuple[str, ...]) -> str:
        if not row:
            return ""
        rest = "".join(f"<td{_right(n)}>{escape(c)}</td>" for c, n in zip(row[1:], self.numeric[1:], strict=True))
        return f'<th scope="row"{_right(self.numeric[0])}>{escape(row[0])}</th>{rest}'

    def __repr__(self) -> str:
        grid = [self.header, *self.rows]
        widths = [max(len(row[i]) for row in grid) for i in range(len(self.header))]

        def line(row: tuple[str, ...]) -> str:
            cells = zip(row, widths, self.numeric, strict=True)
            return "  ".join(c.rjust(w) if n else c.ljust(w) for c, w, n in cells).rstrip()

        rule = "  ".join("-" * w for w in widths)
        top = [self.caption] if self.caption else []
        kind, words = self.provenance
        return "\n".join([*top, line(self.header), rule, *map(line, self.rows), f"({kind} {words})"])


def table(
    rows: Rows,
    caption: str | None = None,
    source: Source = "computed",
    answered: str | Sequence[str] | None = None,
    date: str | None = None,
    note: str | None = None,
    formats: Mapping[str, str] | None = None,
) -> Table:
    """A table that says where its numbers come from; the last line of a cell shows it.

    ``rows`` is a list of dicts (the columns in order of first appearance, a missing key left blank) or a pair
    ``(header, rows)``. An interval (anything with ``mean``, ``low`` and ``high``) reads ``0.62 [0.51, 0.73]``.
    Floats of one column share their number of decimals; ``formats`` overrides it by column, as in
    ``{"score": ".4f"}``. ``answered`` names who answered: ``hand``, ``135M`` or ``hosted``, or several of them.

    Raises ``ValueError`` for an unknown ``source`` or answerer, a row of the wrong length, a replayed table without
    ``answered`` and ``date``, and a cited one without the ``note`` that names its source.

    >>> table([{"system": "BM25", "recall@5": 0.5}, {"system": "dense", "recall@5": 0.625}])
    system  recall@5
    ------  --------
    BM25        0.50
    dense       0.62
    (computed by this build)
    """
    header, body = _header_and_rows(rows)
    unknown = set(formats or {}) - set(header)
    if unknown:
        raise ValueError(f"formats names the column {min(unknown)!r}, which the table does not have")
    columns = [[row[i] for row in body] for i in range(len(header))]
    text = [column(values, (formats or {}).get(name)) for name, values in zip(header, columns, strict=True)]
    numeric = tuple(bool(v) and all(x is None or is_number(x) or is_interval(x) for x in v) for v in columns)
    words = provenance(source, answered, date, note)
    return Table(header, tuple(zip(*text, strict=True)), numeric, caption, words)


def _header_and_rows(rows: Rows) -> tuple[tuple[str, ...], list[list[Any]]]:
    if isinstance(rows, tuple) and len(rows) == 2 and not isinstance(rows[0], Mapping):
        header = tuple(str(name) for name in rows[0])
        body = [list(row) for row in rows[1]]
        for row in body:
            if len(row) != len(header):
                raise ValueError(f"rows: {row!r} has {len(row)} cells, the header has {len(header)}")
    else:
        seen: dict[str, None] = {}
        for record in rows:
            if not isinstance(record, Mapping):
                raise ValueError(f"rows must be dicts or a pair (header, rows), got {record!r}")
            seen.update(dict.fromkeys(record))
        header = tuple(seen)
        body = [[record.get(name) for name in header] for record in rows if isinstance(record, Mapping)]
    if not header:
        raise ValueError("rows must name at least one column")
    return header, body


def _right(numeric: bool) -> str:
    return ' class="rk-num"' if numeric else ""
