"""The command line: stdout is the result, stderr is progress and warnings."""

from jurors.cli.main import main

__all__ = ["main"]
