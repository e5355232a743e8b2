"""How jurors answer beside what they say: who abstains on what."""
