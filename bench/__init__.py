"""Benchmarks of a running Heddle, each next to a minimal baseline (docs/decisions/004-budgets.md)."""
