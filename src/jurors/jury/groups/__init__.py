"""The same jurors, apart for each group of items."""
