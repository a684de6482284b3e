"""Compliance checks of a server: Convilyn's seven and Heddle's own (catalogue 3.9)."""
