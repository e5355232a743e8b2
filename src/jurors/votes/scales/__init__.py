"""What kind of answers votes are: labels without order, ordered levels, or numbers; and how anybody knows."""
