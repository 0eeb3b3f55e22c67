"""The page at `/`: where to go from here."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def home(request: HttpRequest) -> HttpResponse:
    """A short page with links to the API's documents and the console."""
    return render(request, "home.html")
