"""SQLite, as Django speaks to it, for a process of many threads that write."""
