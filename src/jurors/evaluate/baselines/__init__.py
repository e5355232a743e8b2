"""Other estimators from the literature, for comparison: spectral, agreement rates, Dawid-Skene, Bayesian."""
