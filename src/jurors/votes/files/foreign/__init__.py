"""Tables that other programs hold (workbooks, databases), each copied into a file that we read."""
