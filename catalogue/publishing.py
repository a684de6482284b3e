"""Heddle's own tools as records that everybody sees, written again whenever the database migrates (6.4)."""
