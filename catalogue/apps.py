from django.apps import AppConfig
from django.db.models.signals import post_migrate


class CatalogueConfig(AppConfig):
    name = "catalogue"

    def ready(self) -> None:
        """Publish Heddle's own tools after each migration."""
        from catalogue import publishing

        post_migrate.connect(publishing.after_migration, sender=self)
