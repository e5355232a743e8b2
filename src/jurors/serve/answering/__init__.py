"""How the server answers: refusals in one form, and examples of every answer."""
