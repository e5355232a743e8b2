"""`jurors watch`: follow a growing file, a folder of logs or standard input, and send alarms."""
