"""Counts of decision tuples: `Votes` come in, a `Sketch` goes out, and nothing downstream reads a raw vote again."""
