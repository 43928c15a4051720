"""Text and markup of the explorers: numbers as text, one accessible table, and shapes of an SVG.

Every function has a twin of the same name in ``book/_ext/assets/explorers/core.js`` that gives the same string, digit
for digit; a test compares them. Left out: anything that only one of the two languages can do.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from html import escape

from ragkit.figures import COLOURS


def fixed(value: float, digits: int) -> str:
    """``value`` with so many decimals, halves away from zero as JavaScript's ``toFixed`` rounds; never ``-0``.

    >>> fixed(0.03125, 4), fixed(0.12345, 2), fixed(-0.001, 2)
    ('0.0313', '0.12', '0.00')
    """
    rounded = Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    return f"{abs(rounded) if rounded == 0 else rounded:f}"


def count(value: float) -> str:
    """A whole number with a comma every three digits.

    >>> count(1234567)
    '1,234,567'
    """
    return f"{int(fixed(value, 0)):,}"


def money(value: float) -> str:
    """An amount of dollars with about two digits that matter.

    >>> money(0.5), money(0.005), money(12.5), money(12_000)
    ('$0.50', '$0.0050', '$12.50', '$12,000')
    """
    if value >= 100:
        return f"${count(value)}"
    for least, digits in ((0.1, 2), (0.01, 3), (0.001, 4), (0.0001, 5)):
        if value >= least or value == 0:
            return f"${fixed(value, digits)}"
    return f"${fixed(value, 6)}"


def signed(value: float, digits: int) -> str:
    """A change, with its sign; zero has none.

    >>> signed(0.25, 3), signed(-0.25, 3), signed(0.0001, 3)
    ('+0.250', '−0.250', '0.000')
    """
    text = fixed(abs(value), digits)
    if float(text) == 0:
        return text
    return f"{'+' if value > 0 else '−'}{text}"


def share(part: float, whole: float) -> str:
    """A part in per cent of a whole, a dash where there is nothing.

    >>> share(1, 3), share(0, 0)
    ('33%', '–')
    """
    return f"{fixed(100 * part / whole, 0)}%" if whole else "–"


def swatch(series: int) -> str:
    """A small square in the colour of a series, beside its name; a word always says the same thing."""
    return (
        '<svg class="rk-swatch" width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">'
        f'<rect width="10" height="10" class="rk-s{series}" fill="{COLOURS[series]}"/></svg> '
    )


def named(series: int, name: str) -> str:
    """A series' colour and its name, which stay on one line."""
    return f'<span class="rk-named">{swatch(series)}{escape(name)}</span>'


def path(an_id: str) -> str:
    """An id as markup that may break after a slash.

    >>> path("manual/warranty")
    'manual/<wbr>warranty'
    """
    return escape(an_id).replace("/", "/<wbr>")


def bar(parts: Sequence[float], top: float) -> str:
    """A bar of stacked parts, one colour a series, as wide as its share of ``top``."""
    shapes, x = "", 0.0
    for series, part in enumerate(parts):
        width = 100 * part / top if top > 0 else 0.0
        if width > 0:
            shapes += (
                f'<rect x="{fixed(x, 1)}" width="{fixed(width, 1)}" height="8" class="rk-s{series}" '
                f'fill="{COLOURS[series]}"/>'
            )
        x += width
    return f'<svg class="rk-bar" width="100" height="8" viewBox="0 0 100 8" aria-hidden="true">{shapes}</svg>'


def grid(caption: str, header: Sequence[tuple[str, bool]], rows: Sequence[tuple[str, Sequence[str]]]) -> str:
    """A table in a box that scrolls by itself.

    ``header`` holds pairs (markup, whether the column is numeric), ``rows`` pairs (class of the row or "", cells as
    markup); the first cell of a row is its heading.
    """
    name = escape(caption)
    head = "".join(f'<th scope="col"{_right(numeric)}>{cell}</th>' for cell, numeric in header)
    body = ""
    for look, cells in rows:
        rest = "".join(f"<td{_right(header[i][1])}>{cell}</td>" for i, cell in enumerate(cells) if i)
        body += f'<tr{f" class={look}" if look else ""}><th scope="row">{cells[0]}</th>{rest}</tr>'
    return (
        f'<div class="rk-table"><div class="rk-scroll" role="region" tabindex="0" aria-label="{name}">'
        f"<table><caption><span>{name}</span></caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        "</div></div>"
    )


def drawing(width: int, height: int, words: str, shapes: str) -> str:
    """An SVG that is as wide as its place allows and says in ``words`` what it shows."""
    return (
        f'<svg class="rk-drawing" viewBox="0 0 {width} {height}" role="img" aria-label="{escape(words)}" '
        f'font-size="13" style="max-width:{width * 6 // 5}px;width:100%;height:auto">{shapes}</svg>'
    )


def label(x: float, y: float, text: str, anchor: str = "middle", look: str = "") -> str:
    """A piece of text in a drawing, in the page's own ink."""
    kind = f' class="{look}"' if look else ""
    return (
        f'<text x="{fixed(x, 1)}" y="{fixed(y, 1)}" text-anchor="{anchor}" fill="currentColor"{kind}>'
        f"{escape(text)}</text>"
    )


def line(x1: float, y1: float, x2: float, y2: float, look: str, stroke: str, width: float = 1, dash: str = "") -> str:
    """A straight line in a drawing; ``look`` is its class, ``stroke`` its colour where no style sheet is."""
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    ends = f'x1="{fixed(x1, 1)}" y1="{fixed(y1, 1)}" x2="{fixed(x2, 1)}" y2="{fixed(y2, 1)}"'
    return f'<line {ends} class="{look}" stroke="{stroke}" stroke-width="{fixed(width, 1)}"{dashes}/>'


def _right(numeric: bool) -> str:
    return ' class="rk-num"' if numeric else ""
