"""Latent-class models of a panel: EM, model selection by held-out votes, standard errors."""
