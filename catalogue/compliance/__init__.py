"""Compliance: named checks over a stored server, Convilyn's seven and Heddle's own (catalogue 3.9)."""
