"""The scripts beside make samples with tools that are not installed here; pytest must not import them."""

collect_ignore_glob = ["make_*.py"]
