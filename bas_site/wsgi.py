"""The WSGI application, for servers that have no need of streams."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "bas_site.settings")

application = get_wsgi_application()
