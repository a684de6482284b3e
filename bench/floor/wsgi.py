"""The floor's WSGI application, on Heddle's server."""

from django.core.wsgi import get_wsgi_application

from bench.floor import queue

application = get_wsgi_application()
queue.make_table()
if queue.env.is_embedded:
    queue.start_embedded_worker()
