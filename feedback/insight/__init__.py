"""Insight: figures about reports by category, tool, model, age and time to resolve, each with its desk query."""
