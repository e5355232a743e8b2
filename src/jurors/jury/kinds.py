"""The three kinds of data that jurors give (labels, numbers, preferences) behind one interface.

`kind_of` says of which kind data or grades are, and the kind has the rest: how its jurors are graded, its items
labelled and scored by a key, which options of grading apply to it, and the errors where something does not. Functions
are imported when they are called, so that this module loads nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from jurors.errors import OptionError, SketchError
from jurors.options import DEFAULTS, changed_options

if TYPE_CHECKING:
    from jurors.votes.table import Votes


@dataclass(frozen=True)
class Kind:
    """One kind of data: the functions that take it, and what is particular about it."""

    name: str  #: as messages call it
    scale: str  #: the value of the option `scale` that demands it
    grader: str  #: the function that grades the jurors
    labeller: str  #: the one that labels the items, values them or ranks the objects
    scorer: str = ""  #: the one that takes a key, where there is one
    fewest_items: int = 0  #: of a group whose grades mean something
    instead: str = ""  #: what to do where an option is for labels alone

    def grade(self, data: Any, **options: Any) -> Any:
        """Grade the jurors of such data, or of a file that holds some."""
        return _load(self.grader)(data, **options)

    def label(self, data: Any, **options: Any) -> Any:
        """Label the items: one label, or one value, for each."""
        return _load(self.labeller)(data, **options)

    def score(self, data: Any, key: Any, **options: Any) -> Any:
        """Grade the jurors by an answer key."""
        rows = data if self is LABELS else getattr(data, "tuples", data)  # of a sketch, the rows: values have items
        return _load(self.scorer)(rows, key, **options)

    def applicable(self, grading: Mapping[str, Any], others: Sequence[str] = (), *, where: str = "") -> dict[str, Any]:
        """Select the options of grading that apply to this kind; OptionError where another is given.

        Parameters
        ----------
        grading
            Options of `grade`; of what is not labelled, only the level applies.
        others
            What else is given that is for labels alone, as the message is to call it.
        where
            What the message adds about the data.

        Returns
        -------
        dict
        """
        if not self.instead:
            return dict(grading)
        given = [f"{name}=" for name in changed_options(grading) if name != "level"]
        for what in (*given, *others):
            raise self.does_not_apply(what, where)
        return {"level": float(grading.get("level", DEFAULTS["level"]))}

    def does_not_apply(self, what: str, where: str = "") -> OptionError:
        """The error where an option (or an input) is given that is for labels alone.

        Returns
        -------
        OptionError
        """
        message = f"{what} does not apply to {self.name}{where}; leave it out, or {self.instead}"
        return OptionError(message, code="does_not_apply", name=what.strip("="))


# fewest_items: the smallest test whose intervals were checked (benchmarks/plan_widths.py, benchmarks/ratings.py)
LABELS = Kind(
    "labels", "nominal", "jury.grade.grade", "jury.label.label", "jury.compare.score_labels", fewest_items=200
)
NUMBERS = Kind(
    "numbers", "interval", "numeric.grade.grade_numbers", "numeric.grade.value_items", "numeric.score.score_numbers",
    fewest_items=50, instead="make labels of them (threshold=, bins=)",
)  # fmt: skip
PREFERENCES = Kind(
    "pairs", "pairs", "pairwise.grade.grade_pairs", "pairwise.grade.rank", instead="say scale='nominal'"
)  # fmt: skip


def _load(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(import_module(f"jurors.{module}"), name)


def kind_of(data: Any) -> Kind:
    """The kind of `Votes`, a `Sketch`, `Numbers`, `Preferences`, or of grades.

    Returns
    -------
    Kind

    Examples
    --------
    >>> from jurors import Votes
    >>> from jurors.numeric.data import Numbers
    >>> kind_of(Votes.from_matrix([["yes", "no"]])).name, kind_of(Numbers.from_matrix([[0.5, 0.7]])).name
    ('labels', 'numbers')
    """
    scale = getattr(getattr(data, "tuples", data), "scale", None)
    return next((kind for kind in (NUMBERS, PREFERENCES) if isinstance(scale, str) and scale == kind.scale), LABELS)


def numbers_refusal(votes: Votes) -> SketchError | None:
    """The error where labels are needed and votes are numbers; None for labels.

    Returns
    -------
    SketchError or None
    """
    if kind_of(votes) is not NUMBERS:
        return None
    from jurors.votes.codes import midpoint

    return SketchError(
        f"these votes are numbers ({votes.scale_why}), and this needs labels; make labels of them with "
        f"threshold={midpoint(votes.labels)} or bins=5",
        code="numbers",
        given=len(votes.labels),
    )
