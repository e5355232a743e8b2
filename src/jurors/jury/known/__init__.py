"""Juries whose key is known: measured, they tell what to expect of the next one."""
