"""The laboratory: real juries to try things on."""

from jurors.lab.examples import EXAMPLES, load_example

__all__ = ["EXAMPLES", "load_example"]
