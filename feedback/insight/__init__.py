"""Insight: what is rated, by whom it was answered, what waits and how long it takes; each figure with its query."""
