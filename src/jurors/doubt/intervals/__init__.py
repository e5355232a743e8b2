"""How sure the numbers are: intervals of a trio, of a panel, and of how errors go together."""
