"""How far to believe it: an evaluation comes in, alarms and intervals go out."""
