from django.urls import path

from wallets import api

urlpatterns = [
    path("auth/nonce", api.NonceView.as_view()),
    path("auth/login", api.LoginView.as_view()),
    path("auth/logout", api.LogoutView.as_view()),
    path("auth/me", api.MeView.as_view()),
    path("auth/logins", api.LoginsView.as_view()),
    path("auth/logins/revoke", api.RevokeLoginsView.as_view()),
    path("auth/logins/<uuid:login_id>/revoke", api.RevokeLoginView.as_view()),
    path("auth/tokens", api.TokensView.as_view()),
    path("credits", api.CreditsView.as_view()),
    path("credits/statement", api.StatementView.as_view()),
    path("credits/statement.<str:form>", api.StatementFileView.as_view()),
]
