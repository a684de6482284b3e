"""Values that fit a JSON Schema, drawn from a seed: what worlds answer, and examples for exports and compliance checks.

They depend only on the seed and the schema: not on the clock, on process randomness or on hash order (C102).
"""
