"""Ordered levels: jurors who look at where an item lies on one line, and cut that line into levels."""
