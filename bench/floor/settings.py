"""Minimal settings: Heddle's database and queue, no middleware, no apps."""

from config import settings as product

SECRET_KEY = "floor"
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "bench.floor.urls"
DATABASES = product.DATABASES
HEDDLE = product.HEDDLE
USE_TZ = True
USE_I18N = False
LOGGING_CONFIG = None
