"""`jurors serve`: votes over HTTP, stored durably, graded and watched; needs the extra `jurors[serve]`."""
