from django.contrib import admin
from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView

from bas_site.health import healthz, readyz
from bas_site.home import home
from bas_site.metrics import metrics

urlpatterns = [
    path("", home),
    path("admin/", admin.site.urls),
    path("api/v1/", include("wallets.urls")),
    path("api/v1/", include("contracts.urls")),
    path("api/v1/", include("matches.urls")),
    path("api/schema", SpectacularAPIView.as_view(), name="schema"),
    path("api/docs", SpectacularSwaggerView.as_view(url_name="schema")),
    path("healthz", healthz),
    path("readyz", readyz),
    path("metrics", metrics),
]
handler400 = "bas_site.problems.bad_request"
handler403 = "bas_site.problems.forbidden"
handler404 = "bas_site.problems.not_found"
handler500 = "bas_site.problems.server_error"
