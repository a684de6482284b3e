"""A SQLite backend for Django, for a process with many writing threads."""
