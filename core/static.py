"""Static files with content hashes in their names, compressed once at collection."""

from whitenoise.storage import CompressedManifestStaticFilesStorage

LEFT_OUT = ["ext", "htmax-*", "htmx-4*", "htmx-2.js"]
"""Files of django-htmx that no page loads. Its extensions import a module that only bundlers resolve."""


class HashedStorage(CompressedManifestStaticFilesStorage):
    """Also rewrites the imports in ES modules, which use relative paths."""

    support_js_module_import_aggregation = True
    manifest_strict = True
