"""Where votes are kept: one `Store`, on SQLite in one file or on PostgreSQL."""

from jurors.serve.stores.opening import check_there, open_store, shown_store
from jurors.serve.stores.sql_store import SqlStore as Store

__all__ = ["Store", "check_there", "open_store", "shown_store"]
