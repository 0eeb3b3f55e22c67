from django.urls import path

from contracts import api, withdrawal_api

urlpatterns = [
    path("chain", api.ChainView.as_view()),
    path("deposits", api.DepositsView.as_view()),
    path("withdrawals", withdrawal_api.WithdrawalsView.as_view()),
    path("withdrawals/<int:withdrawal_id>/cancel", withdrawal_api.CancelWithdrawalView.as_view()),
]
