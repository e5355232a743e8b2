"""`python -m jurors`: the command line."""

from jurors.cli import main

main(prog_name="jurors")
