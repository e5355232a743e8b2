"""Pages of answers that are no labels: numbers and preferences come in, the same page as of votes goes out."""
