"""Coefficients of agreement, scale by scale, each with its interval. None of them measures accuracy."""
