"""Any panel: latent classes, the choice of a model by hidden votes, copies and groups that speak as one."""
