"""What jurors agree on: one factor behind their covariances, in closed form for three, fitted for more."""
