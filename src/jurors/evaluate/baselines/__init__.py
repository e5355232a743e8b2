"""Other estimators from the literature, for comparison: Dawid-Skene, Bayesian."""
