"""Counts of real juries, facts from the paper's Table 1 and from a public notebook of its author; reference juries."""
