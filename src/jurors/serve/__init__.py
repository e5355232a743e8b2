"""`jurors serve`: votes over HTTP, kept durably, graded and watched; needs the extra `jurors[serve]`."""
