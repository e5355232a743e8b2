"""Which files a source names, and each as a relation of DuckDB; whatever is wrong with them as one line."""
