"""Figures of a running Heddle beside floors that are measured in the same minutes (docs/decisions/004-budgets.md)."""
