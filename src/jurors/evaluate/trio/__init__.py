"""Three jurors: the theorems, forwards and back, for two labels and more, for one trio or all of them at once."""
