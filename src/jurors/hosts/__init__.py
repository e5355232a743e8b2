"""`jurors` inside other programs: Inspect AI, promptfoo, MLflow, pytest, GitHub, assistants."""
