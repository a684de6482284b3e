"""Static files with content hashes in their names, compressed once at collection."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedStorage(CompressedManifestStaticFilesStorage):
    """ES modules import each other by relative path, so their imports are rewritten too."""

    support_js_module_import_aggregation = True
    manifest_strict = True
