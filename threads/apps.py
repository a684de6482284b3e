from django.apps import AppConfig


class ThreadsConfig(AppConfig):
    name = "threads"

    def ready(self) -> None:
        from catalogue import hooks
        from threads import indexing, sharing
        from threads.models import Thread

        hooks.threads = hooks.Threads(titles=sharing.titles, in_worlds=Thread.objects.all)
        indexing.TRIGGERS.keep(self)
