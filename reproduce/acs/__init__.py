"""The American Community Survey experiment: records, a jury of four networks, thousands of tests, a report."""
