from django.urls import path, register_converter

from matches import api, events_api, players_api
from wallets.converters import AddressConverter

register_converter(AddressConverter, "address")

urlpatterns = [
    path("matches", api.MatchesView.as_view()),
    path("matches/quick", api.QuickMatchView.as_view()),
    path("matches/practice", api.PracticeView.as_view()),
    path("matches/<uuid:match_id>", api.MatchView.as_view()),
    path("matches/<uuid:match_id>/events", events_api.EventsView.as_view()),
    path("matches/<uuid:match_id>/join", api.JoinView.as_view()),
    path("matches/<uuid:match_id>/cancel", api.CancelView.as_view()),
    path("matches/<uuid:match_id>/rematch", api.RematchView.as_view()),
    path("matches/<uuid:match_id>/resign", api.ResignView.as_view()),
    path("matches/<uuid:match_id>/moves", api.MovesView.as_view()),
    path("matches/<uuid:match_id>/reveals", api.RevealsView.as_view()),
    path("matches/<uuid:match_id>/potions", api.PotionsView.as_view()),
    path("matches/<uuid:match_id>/transcript", api.TranscriptView.as_view()),
    path("leaderboard", players_api.LeaderboardView.as_view()),
    path("players/<address:address>", players_api.PlayerView.as_view()),
    path("players/<address:address>/matches", players_api.PlayerMatchesView.as_view()),
    path("players/<address:address>/against/<address:other>", players_api.HeadToHeadView.as_view()),
]
