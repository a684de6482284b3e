from django.apps import AppConfig


class FeedbackConfig(AppConfig):
    name = "feedback"

    def ready(self) -> None:
        from feedback import hooks, indexing

        hooks.register()
        indexing.TRIGGERS.keep(self)
