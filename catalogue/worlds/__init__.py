"""Simulated environments ("worlds"): results come from schemas, fixtures and earlier calls (catalogue 3.8).

A result depends only on the seed and the inputs that the specification lists: not on the clock, on process randomness
or on hash order.
"""
