"""Jurors' numbers: ratings and scores on a scale come in; graded jurors and valued items go out, without a key."""
