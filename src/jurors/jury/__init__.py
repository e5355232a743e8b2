"""One call each: `grade`, `label`, `score`, `compare`, `bounds` and the scikit-learn-shaped `Jury`."""
