"""The public verbs: `grade`, `label`, `score`, `compare`, `bounds`, and the scikit-learn estimator `Jury`."""
