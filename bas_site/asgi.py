"""The ASGI application that uvicorn serves."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "bas_site.settings")
os.environ.setdefault("DATABASE_POOL_SIZE", "20")

_django = get_asgi_application()  # which reads the settings

from django.conf import settings  # noqa: E402

from bas_site.bodies import BoundedBodies  # noqa: E402

application = BoundedBodies(
    _django, bytes_=settings.DATA_UPLOAD_MAX_MEMORY_SIZE, seconds=settings.REQUEST_BODY_SECONDS
)
