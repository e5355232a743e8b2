"""Where tables of votes come from: local files, DuckDB, SQLite, PostgreSQL, workbooks."""
