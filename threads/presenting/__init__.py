"""How a thread looks: rows, heads, articles, calls, map and cloth as plain data.

No ORM, no request, no HTML but the text of messages.
"""
