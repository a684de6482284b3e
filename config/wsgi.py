"""The WSGI entry point. In the embedded way of running, the worker lives in this very process."""

import gc
import os
from importlib import import_module

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from django.core.wsgi import get_wsgi_application

application = get_wsgi_application()

from config import embedded, settings

import_module(settings.ROOT_URLCONF)
# What was loaded stays. To walk through it for garbage would stop every request for a sixth of a second now and then.
gc.freeze()
embedded.start_if_wanted()
