"""What can be wrong with the input, one tree.

An *error* is about the input and is raised; an *alarm* is about the jurors and is returned.

* JurorsError
  + VotesError              the file, the rows or the columns are not votes
  + SketchError             these counts cannot be evaluated as asked
    - DegenerateSketchError   the counts fix no answer (a juror who answers regardless of the truth, say)
  + OptionError             an option that does not exist, or a value that it cannot have
  + OutputError             a result that cannot be written
  + ServerError             a server of `jurors serve` refused what a client asked, or cannot be reached

Each has a `code`, one word of `Code`, and says in `about` what it is about: programs decide by these, never by the
message, which is for people.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self, TypeAlias, TypedDict, Unpack

__all__ = [
    "About",
    "Code",
    "DegenerateSketchError",
    "JurorsError",
    "OptionError",
    "OutputError",
    "ServerError",
    "SketchError",
    "VotesError",
]

#: What an error is about in one word; those of its class where nothing finer is worth telling apart.
Code: TypeAlias = Literal[
    # the input as a whole, votes, counts, options, output: nothing finer
    "input", "votes", "sketch", "option", "output", "server",
    # names and options
    "unknown_name", "unknown_option", "out_of_range", "does_not_apply",
    # files
    "no_file", "empty", "damaged", "too_large", "several_questions", "bad_row",
    # the columns and cells of a table
    "key_column", "two_items", "no_label_column", "two_readings", "no_votes_table", "pairs", "repeated_votes",
    "same_files", "different_columns", "many_columns",
    # what can be graded
    "no_items", "few_jurors", "few_labels", "many_labels", "numbers", "degenerate",
    # what the server keeps
    "no_project", "bad_vote", "many_jurors", "many_votes", "many_projects", "store_down", "disk_full",
    # who may ask the server, and how
    "no_key", "bad_key", "forbidden", "wrong_host", "wrong_origin", "too_many_requests", "bad_request", "bad_path",
    "bad_name", "bad_body", "not_json", "slow_body", "no_route", "fault",
]  # fmt: skip


class About(TypedDict, total=False):
    """What an error is about; only what applies is there."""

    name: Any  #: the name that was not found, or of the option
    what: str  #: what the name is of: "column", "juror", "method" …
    known: Sequence[Any]  #: the names there are
    value: Any  #: what an option was given
    file: str  #: the file, as the user calls it
    row: int  #: of a table, from 1
    column: str
    columns: tuple[str, ...]
    jurors: tuple[str, ...]
    labels: tuple[Any, ...]
    item: str
    repeated: int  #: how many votes of a juror on an item are there again
    needed: int  #: how many there must be (or, of labels, may be)
    given: int  #: how many there are
    items: int  #: how many items there are
    tool: str  #: `--from NAME:QUESTION` that would help
    outcome: str  #: of a degenerate sketch, why it fixes no answer
    status: int  #: the HTTP status of a server's answer
    reason: str  #: the code that a server gave


class JurorsError(ValueError):
    """Any input `jurors` cannot work with. The message says what was found, where, and what to do.

    Examples
    --------
    >>> error = VotesError("row 3 has no item", code="bad_row", row=3).in_file("votes.csv")
    >>> error.code, error.about["row"], error.about["file"], str(error)
    ('bad_row', 3, 'votes.csv', 'votes.csv: row 3 has no item')
    """

    default: ClassVar[Code] = "input"
    fault: str  #: the message without the file's name in front

    def __init__(self, message: str, *, code: Code | None = None, **about: Unpack[About]) -> None:
        super().__init__(message)
        self.code: Code = code or self.default
        self.about: About = about
        self.fault = message

    def in_file(self, name: str) -> Self:
        """The same error, as one line with the name of the file in front."""
        again = copy.copy(self)
        again.fault = " ".join(str(self).split())
        again.args = (f"{name}: {again.fault}",)
        again.about = {**self.about, "file": name}
        return again

    def after(self, front: str) -> Self:
        """The same error with a text in front of its message."""
        again = copy.copy(self)
        again.fault = f"{front}{self}"
        again.args = (again.fault,)
        return again


class VotesError(JurorsError):
    """The votes cannot be read: which file, row or column, and what to do about it."""

    default: ClassVar[Code] = "votes"


class SketchError(JurorsError):
    """The counts cannot be evaluated as asked."""

    default: ClassVar[Code] = "sketch"


class DegenerateSketchError(SketchError):
    """The counts fix no answer. `outcome` names the reason, `jurors` whom it concerns."""

    default: ClassVar[Code] = "degenerate"

    @property
    def outcome(self) -> str:
        """The reason, in one word."""
        return self.about.get("outcome", "")

    @property
    def jurors(self) -> tuple[str, ...]:
        """Whom it concerns."""
        return self.about.get("jurors", ())


class OptionError(JurorsError):
    """An option that does not exist, or that cannot have this value: a misspelt method, a level of 95."""

    default: ClassVar[Code] = "option"


class OutputError(JurorsError):
    """A result that cannot be written: where, and why."""

    default: ClassVar[Code] = "output"


class ServerError(JurorsError):
    """A server refused what a client asked, in the server's own line, or cannot be reached (without a status)."""

    default: ClassVar[Code] = "server"

    @property
    def status(self) -> int | None:
        """The HTTP status."""
        return self.about.get("status")

    @property
    def reason(self) -> str:
        """The server's code for what was wrong; "" where it gave none."""
        return self.about.get("reason", "")
