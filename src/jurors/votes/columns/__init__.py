"""Which column is what, decided by what the cells show; names are hints."""
