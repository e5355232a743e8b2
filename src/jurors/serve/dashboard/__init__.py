"""The page at `/`: projects, live grades, alarms with their history, and the desk where a person labels items."""
