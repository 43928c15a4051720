"""What a query returned, and how it reads as text. Left out: types of columns, which SQLite does not promise anyway."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

Row: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True)
class Result:
    """Names of the columns, rows, and whether there were more rows than the cap let through."""

    columns: tuple[str, ...]
    rows: list[Row]
    truncated: bool = False

    def __str__(self) -> str:
        """All rows as `text`: what an agent's tool shows, cut or not."""
        return self.text()

    def text(self, limit: int | None = None) -> str:
        """The rows as a table in text, ``NULL`` spelled out, cells cut at 80 characters; whatever is cut is said.

        >>> print(Result(("name", "staff"), [("Riverside", 7), ("Hill", None)], truncated=True).text())
        name | staff
        Riverside | 7
        Hill | NULL
        (the first 2 rows; there are more)
        """
        shown = self.rows if limit is None else self.rows[:limit]
        lines = [" | ".join(self.columns), *(" | ".join(map(_cell, row)) for row in shown)]
        if self.truncated:
            lines.append(f"(the first {len(shown)} rows; there are more)")
        elif len(shown) < len(self.rows):
            lines.append(f"(the first {len(shown)} of {len(self.rows)} rows)")
        elif not shown:
            lines.append("(no rows)")
        return "\n".join(lines)


def _cell(value: Any) -> str:
    if value is None:
        return "NULL"
    text = f"({len(value)} bytes)" if isinstance(value, bytes) else " ".join(str(value).split())
    return text if len(text) <= 80 else f"{text[:79]}…"
