"""The WSGI entry point. In the embedded way of running, the worker lives in this very process."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from django.core.wsgi import get_wsgi_application

application = get_wsgi_application()

from config import embedded

embedded.start_if_wanted()
