"""View models of threads as plain data: rows, heads, articles, calls, map and activity chart.

No ORM, no request, and no HTML except the text of messages.
"""
