from django.contrib import admin
from django.urls import include, path
from drf_spectacular.views import SpectacularSwaggerSplitView

from bas_site.dev_rpc import dev_rpc
from bas_site.export import ExportView
from bas_site.health import healthz, readyz
from bas_site.metrics import metrics
from bas_site.openapi import openapi
from bas_site.problem_list import problem_list
from bas_site.shell import shell

# The paths of web/src/router.ts.
pages = [
    path("", shell),
    path("lobby", shell),
    path("match/<uuid:match_id>", shell),
    path("replay/<uuid:match_id>", shell),
    path("verify", shell),
    path("leaderboard", shell),
    path("player/<str:address>", shell),
    path("credits", shell),
    path("rules", shell),
]
urlpatterns = [
    *pages,
    path("admin/", admin.site.urls),
    path("api/v1/", include("wallets.urls")),
    path("api/v1/", include("contracts.urls")),
    path("api/v1/", include("matches.urls")),
    path("api/v1/export", ExportView.as_view()),
    path("api/schema", openapi, name="schema"),
    path("api/docs", SpectacularSwaggerSplitView.as_view(url_name="schema")),
    path("dev/rpc", dev_rpc),
    path("api/problems", problem_list),
    path("healthz", healthz),
    path("readyz", readyz),
    path("metrics", metrics),
]
handler400 = "bas_site.problems.bad_request"
handler403 = "bas_site.problems.forbidden"
handler404 = "bas_site.problems.not_found"
handler500 = "bas_site.problems.server_error"
