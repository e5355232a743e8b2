"""How a fitted panel moves with the weights of its items, to first order."""
