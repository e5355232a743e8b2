"""One call each: `grade`, `label`, `score`, `compare`, `bounds` and the scikit-learn-shaped `Jury`."""

from jurors.jury.agreement import agreement
from jurors.jury.bounds import bounds
from jurors.jury.compare import Comparison, compare
from jurors.jury.estimator import Jury
from jurors.jury.gates.gate import gate
from jurors.jury.gates.verdict import Verdict, check
from jurors.jury.grade import grade
from jurors.jury.groups.by_group import ByGroup, grade_by, label_by, score_by
from jurors.jury.known.fit_reference import fit_reference
from jurors.jury.label import label
from jurors.jury.labelling import Labelling
from jurors.jury.methods.methods import METHODS
from jurors.jury.score import score, score_labels

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
