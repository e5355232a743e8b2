"""How far to trust an evaluation: alarms, intervals, bounds, and calibration on reference juries."""
