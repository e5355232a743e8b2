"""One juror several times on one item: who is asked again, what was said each time, and the one vote of it."""
