"""Rows of text as columns.

Rule of this file: a column is as wide as its widest cell.
"""

from collections.abc import Sequence

from krm_function.report.order import on_one_line


def table(rows: Sequence[tuple[str, ...]]) -> str:
    """Write a line per row, two spaces between columns, none after the last; all rows have as many cells."""
    cells = [tuple(on_one_line(cell) for cell in row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in cells)
