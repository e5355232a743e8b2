"""Commands as a test runs them."""

from __future__ import annotations

from click.testing import CliRunner, Result

from jurors.cli.main import main


def run(*arguments: object, stdin: str | bytes | None = None) -> Result:
    """What a command prints, and its exit status."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)


def refused(*arguments: object, stdin: str | bytes | None = None) -> str:
    """The one line on standard error of a command that refuses its input: status 2, and no result.

    `inspect` describes on standard output even what it refuses.
    """
    result = run(*arguments, stdin=stdin)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1), result.output
    assert result.stdout == "" or arguments[0] == "inspect"
    return result.stderr
