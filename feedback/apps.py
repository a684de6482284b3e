from django.apps import AppConfig
from django.db.backends.signals import connection_created
from django.db.models.signals import post_migrate, pre_migrate


class FeedbackConfig(AppConfig):
    name = "feedback"

    def ready(self) -> None:
        from feedback import hooks, indexing
        from feedback.querying import words

        hooks.register()
        connection_created.connect(words.prepare)
        pre_migrate.connect(indexing.remove, sender=self)
        post_migrate.connect(indexing.install, sender=self)
