"""Results turned into charts and a page: evaluations come in, altair charts and one self-contained HTML file go out."""
