"""Tables: files of rows and columns, as rows to cluster."""

from coterie.data.tables.read import TableRows, read_table

__all__ = ["TableRows", "read_table"]
