"""Static files with content hashes in their names, compressed once at collection."""

from whitenoise.storage import CompressedManifestStaticFilesStorage

LEFT_OUT = ["ext", "htmax-*", "htmx-4*", "htmx-2.js"]
"""What django-htmx brings beside the script that pages load. Its extensions name a module that only bundlers find."""


class HashedStorage(CompressedManifestStaticFilesStorage):
    """ES modules import each other by relative path, so their imports are rewritten too."""

    support_js_module_import_aggregation = True
    manifest_strict = True
