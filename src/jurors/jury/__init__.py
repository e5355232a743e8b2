"""One call each: `grade`, `label`, `score`, `compare`, `bounds` and the scikit-learn-shaped `Jury`."""

from jurors.jury.check import Verdict, check
from jurors.jury.compare import Comparison, agreement, bounds, compare, score, score_labels
from jurors.jury.estimator import Jury
from jurors.jury.gates import gate
from jurors.jury.grade import METHODS, grade
from jurors.jury.groups import ByGroup, grade_by, label_by, score_by
from jurors.jury.label import Labelling, label
from jurors.jury.reference import fit_reference

__all__ = [
    "METHODS",
    "ByGroup",
    "Comparison",
    "Jury",
    "Labelling",
    "Verdict",
    "agreement",
    "bounds",
    "check",
    "compare",
    "fit_reference",
    "gate",
    "grade",
    "grade_by",
    "label",
    "label_by",
    "score",
    "score_by",
    "score_labels",
]
