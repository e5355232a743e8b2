"""A sketch comes in, evaluations go out: exact where the algebra allows, and what the rivals would say."""
