"""Template filters of the desk."""
