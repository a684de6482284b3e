from django.apps import AppConfig
from django.db.models.signals import post_migrate


class CatalogueConfig(AppConfig):
    name = "catalogue"

    def ready(self) -> None:
        """Heddle's own tools are in every database as soon as its tables are."""
        from catalogue import publishing

        post_migrate.connect(publishing.after_migration, sender=self)
