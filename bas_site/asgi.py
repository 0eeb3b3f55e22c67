"""The ASGI application that uvicorn serves."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "bas_site.settings")
os.environ.setdefault("DATABASE_POOL_SIZE", "20")

application = get_asgi_application()
