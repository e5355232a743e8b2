"""What a store keeps beside votes and counts: keys, gold, alarms."""
