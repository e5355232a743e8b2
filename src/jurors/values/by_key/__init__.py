"""Numbers and true values come in; how far off jurors and items' values are goes out."""
