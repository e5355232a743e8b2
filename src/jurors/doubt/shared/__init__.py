"""What grades and labels are worth when jurors err together, as all real juries do: the shared error, and its prior."""
