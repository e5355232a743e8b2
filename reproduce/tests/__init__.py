"""The tests of `reproduce`."""
