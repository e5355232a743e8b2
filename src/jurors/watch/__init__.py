"""`jurors watch`: votes from a growing file, a folder of logs or standard input, graded while they arrive."""
