"""Synthetic worlds: tools are answered from their schemas, from fixtures and from what was done before (catalogue 3.8).

An answer is a pure function of the seed and what stands beside it in the specification. No clock, no randomness of the
process and no order of hashes takes part in it.
"""
