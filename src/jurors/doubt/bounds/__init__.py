"""Between which numbers everything must lie: by logic alone, or if errors correlate by at most so much."""
