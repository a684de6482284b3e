"""View models of feedback as plain data: desk rows, the report, its comments, the desk's bar, the rating form.

No ORM and no request.
"""
