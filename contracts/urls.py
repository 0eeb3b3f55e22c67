from django.urls import path

from contracts import api

urlpatterns = [
    path("chain", api.ChainView.as_view()),
    path("deposits", api.DepositsView.as_view()),
]
