"""What the rivals would say: Dawid-Skene, variational Bayes, the spectral method, agreement rates."""
