"""Where a person labels: a sheet comes in, a page or another tool's tasks go out; what comes back is a sheet again."""
