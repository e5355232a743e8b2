"""Preferences: who found which of two objects better; comes out ranked, and the jurors graded, without a key."""
