"""Limits of one's own for CI: what was asked, what is known, and whether it is kept."""
