"""What can be wrong with the input, one tree.

An *error* is about the input and is raised; an *alarm* is about the jurors and is returned.

* JurorsError
  + VotesError              the file, the rows or the columns are not votes
  + SketchError             these counts cannot be evaluated as asked
    - DegenerateSketchError   the counts fix no answer (a juror who answers regardless of the truth, say)
"""

__all__ = ["DegenerateSketchError", "JurorsError", "SketchError", "VotesError"]


class JurorsError(ValueError):
    """Any input `jurors` cannot work with. The message says what was found, where, and what to do."""


class VotesError(JurorsError):
    """The votes cannot be read: which file, row or column, and what to do about it."""


class SketchError(JurorsError):
    """The counts cannot be evaluated as asked."""


class DegenerateSketchError(SketchError):
    """The counts fix no answer. `outcome` names the reason, `jurors` whom it concerns."""

    def __init__(self, message: str, *, outcome: str, jurors: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.outcome = outcome
        self.jurors = jurors
