"""The paper's census experiment, fenced off: records, a jury of four networks, thousands of tests, figures."""
