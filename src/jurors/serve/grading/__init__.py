"""From what a store counted to what is asked: grades, labels, reviews, windows, alarms; computed once per fold."""
