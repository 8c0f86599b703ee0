"""Rows of text as columns.

Rule of this file: a column is as wide as its widest cell; what a cell holds cannot leave it.
"""

from collections.abc import Sequence

from krm_function.report.order import escape


def table(rows: Sequence[tuple[str, ...]]) -> str:
    """One line a row, two spaces between columns, nothing behind the last one; all rows have as many cells."""
    cells = [tuple(escape(cell) for cell in row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in cells)
