"""Breaks the heart of the package in many small ways, to see whether the tests notice."""
