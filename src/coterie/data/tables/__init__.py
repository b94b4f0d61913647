"""Tables: files of rows and columns, as rows to cluster.

`read.py` leads from a file to rows of numbers; begin there. Each format has a file or two, and all
answer the protocol of `format.py`: `delimited.py` (CSV), `arrow.py`, `json_lines.py`,
`json_array.py` and `npy.py`. The first bytes of a file tell its format, see `data/file_types.py`.
`dialect.py` finds separators and headers, `columns.py` chooses columns, `missing.py` treats gaps,
and `fill_rows.py` writes one array.
"""

from coterie.data.tables.read import TableRows, read_table

__all__ = ["TableRows", "read_table"]
