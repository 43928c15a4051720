"""What the pages show with: tables with their provenance, passages with the gold ones marked, and checked claims.

No paper stands behind this module. Three rules of the book do. A number says how it came to be: *computed* by
the build, *replayed* from a dated record, or *cited*. A number in a sentence is asserted before it is printed.
A table can be read by a screen reader, on a phone and in a terminal. The charts are drawn by ``ragkit.figures``
and offered here too. Left out: sorting, paging and any other interaction.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Literal, TypeAlias

from ragkit.base import Hit
from ragkit.figures import Chart, bars, heatmap, is_interval, lines, network, scatter

__all__ = ["Chart", "Passages", "Table", "bars", "claim", "heatmap", "lines", "network", "passages", "scatter", "table"]

Source: TypeAlias = Literal["computed", "replayed", "cited"]
Rows: TypeAlias = Sequence[Mapping[str, Any]] | tuple[Sequence[str], Sequence[Sequence[Any]]]

ANSWERERS = {
    "hand": "answers written by hand",
    "135M": "answered by the local 135M model",
    "hosted": "answered by a hosted model",
}
_MEANING = {"computed": "by this build", "replayed": "from a record", "cited": "from a publication"}


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
        caption = f"<caption>{escape(self.caption)}</caption>" if self.caption else ""
        # The box scrolls, the page does not; tabindex lets a keyboard reach what is scrolled out of sight.
        return (
            f'<div class="rk-table"><div class="rk-scroll" role="region" tabindex="0" aria-label="{name}">'
            f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
            f"{_provenance_html(*self.provenance)}</div>"
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
    text = [_column(values, (formats or {}).get(name)) for name, values in zip(header, columns, strict=True)]
    numeric = tuple(bool(v) and all(x is None or _is_number(x) or is_interval(x) for x in v) for v in columns)
    provenance = _provenance(source, answered, date, note)
    return Table(header, tuple(zip(*text, strict=True)), numeric, caption, provenance)


def claim(name: str, value: Any, low: float, high: float, fmt: str = "{:.2f}") -> None:
    """Assert that ``value`` lies in ``[low, high]``, then glue its text for ``{glue:text}`` in the prose.

    ``value`` is a number or an interval; of an interval the mean is asserted, and the text reads
    ``0.62 [0.51, 0.73]``. The band is the claim that the sentence makes: a build in which it no longer holds
    fails here, by name.
    Prints nothing. Outside a notebook only the assertion is made.
    """
    if math.isnan(low) or math.isnan(high) or low > high:
        raise ValueError(f"claim {name!r}: low must not exceed high, got [{low}, {high}]")
    interval = is_interval(value)
    number = float(value.mean if interval else value)
    if not low <= number <= high:  # also catches NaN
        raise AssertionError(f"claim {name!r} does not hold: {number:g} is outside [{low:g}, {high:g}]")
    text = f"{fmt} [{fmt}, {fmt}]".format(value.mean, value.low, value.high) if interval else fmt.format(value)
    try:
        from IPython import get_ipython
        from myst_nb import glue
    except ImportError:
        return
    if get_ipython() is not None:  # without a kernel, gluing would print
        glue(name, text, display=False)


@dataclass(frozen=True, slots=True)
class Passages:
    """Hits as a reader sees them: rank, id, score, whether gold, text; and the gold ids that were not found."""

    hits: tuple[tuple[int, str, str, bool, str], ...]
    missing: tuple[str, ...]
    labelled: bool

    def _repr_html_(self) -> str:
        if not self.hits:
            items = '<li class="rk-none">Nothing was retrieved.</li>'
        else:
            items = "".join(
                f'<li{" class=rk-gold" if gold else ""}><span class="rk-hit">{rank}. <code>{escape(an_id)}</code> '
                f"{score}{' <strong>gold</strong>' if gold else ''}</span> {escape(text)}</li>"
                for rank, an_id, score, gold, text in self.hits
            )
        return f'<ol class="rk-passages">{items}</ol>' + (f"<p>{escape(self._verdict())}</p>" if self.labelled else "")

    def _verdict(self) -> str:
        if self.missing:
            return "Gold passages not retrieved: " + ", ".join(self.missing) + "."
        return "Every gold passage was retrieved."

    def __repr__(self) -> str:
        lines_ = [
            f"{rank:2}. {'*' if gold else ' '} {an_id}  {score}  {text}" for rank, an_id, score, gold, text in self.hits
        ]
        if self.labelled:
            lines_.append(f"(* gold) {self._verdict()}")
        return "\n".join(lines_ or ["Nothing was retrieved."])


def passages(hits: Sequence[Hit], relevant: Collection[str] | None = None, width: int = 140) -> Passages:
    """Hits with the gold ones marked in words, and the gold ones that are missing named.

    ``relevant`` holds passage ids (a dict of gains will do); leave it out where nothing is labelled.
    Texts longer than ``width`` characters are cut at a word.

    >>> passages([Hit("p1", "Holds 1.7 litres.", 2.5)], relevant={"p1", "p2"})
     1. * p1  2.500  Holds 1.7 litres.
    (* gold) Gold passages not retrieved: p2.
    """
    if width < 1:
        raise ValueError(f"width must be at least 1, got {width}")
    gold = set(relevant or ())
    rows = tuple(
        (rank, h.id, f"{h.score:.3f}", h.id in gold, _shorten(h.text, width)) for rank, h in enumerate(hits, start=1)
    )
    missing = tuple(sorted(gold - {h.id for h in hits}))
    return Passages(rows, missing, labelled=bool(gold))


def _shorten(text: str, width: int) -> str:
    """One line of at most ``width`` characters, cut between words where there is a word to keep.

    >>> _shorten("The kettle holds 1.7 litres.", 18)
    'The kettle holds …'
    """
    flat = " ".join(text.split())
    if len(flat) <= width:
        return flat
    cut = flat[:width].rsplit(" ", 1)[0] if " " in flat[:width] else flat[: width - 1]
    return (cut if len(cut) < width else cut[: width - 1]) + (" …" if len(cut) + 2 <= width else "…")


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


def _is_number(value: object) -> bool:
    # numpy's scalars are numbers too, so the test is what the value can do; a bool reads yes or no.
    return hasattr(value, "__float__") and hasattr(value, "__add__") and not _is_bool(value)


def _is_bool(value: object) -> bool:
    return type(value).__name__ in ("bool", "bool_")


def _column(values: list[Any], spec: str | None) -> list[str]:
    """The texts of one column. Its floats share their decimals, so that digits line up.

    >>> _column([0.5, 0.25, 1.0], None), _column([0.0164, 0.0161], None), _column([1234, None, True], None)
    (['0.50', '0.25', '1.00'], ['0.0164', '0.0161'], ['1,234', '–', 'yes'])
    """
    floats = [abs(float(v)) for v in values if _is_number(v) and not hasattr(v, "__index__")]
    sizes = [v for v in floats if v and math.isfinite(v)]
    if sizes and min(sizes) >= 1000:
        fallback = ",.0f"
    elif sizes and max(sizes) < 0.1:
        fallback = ".4f"
    else:
        fallback = ",.2f"
    return [_text(v, spec, fallback) for v in values]


def _text(value: Any, spec: str | None, fallback: str) -> str:
    if value is None:
        return "–"
    if _is_bool(value):
        return "yes" if value else "no"
    if is_interval(value):
        if not math.isfinite(value.mean):
            return "–"
        s = spec or ".2f"
        return f"{value.mean:{s}} [{value.low:{s}}, {value.high:{s}}]"
    if _is_number(value):
        if not math.isfinite(float(value)):
            return "–" if math.isnan(float(value)) else str(value)
        return format(value, spec or ("," if hasattr(value, "__index__") else fallback))
    return str(value)


def _provenance(
    source: str, answered: str | Sequence[str] | None, date: str | None, note: str | None
) -> tuple[str, str]:
    if source not in _MEANING:
        raise ValueError(f"source must be computed, replayed or cited, got {source!r}")
    names = [answered] if isinstance(answered, str) else list(answered or [])
    for name in names:
        if name not in ANSWERERS:
            raise ValueError(f"answered must be one of {', '.join(ANSWERERS)}, got {name!r}")
    if source == "replayed" and not (names and date):
        raise ValueError("a replayed table says who answered and when: give answered and date")
    if source == "cited" and not note:
        raise ValueError("a cited table names its source: give note")
    words = [_MEANING[source] + (f" of {date}" if date else "")]
    words += ["; ".join(f"{name}: {ANSWERERS[name]}" for name in names)] if names else []
    words += [note] if note else []
    return source, ". ".join(words)


def _provenance_html(kind: str, words: str) -> str:
    return f'<p class="rk-source"><span class="rk-badge rk-{kind}">{kind}</span> {escape(words)}.</p>'


def _right(numeric: bool) -> str:
    return ' class="rk-num"' if numeric else ""
