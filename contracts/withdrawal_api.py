"""The API of withdrawals. Views parse, call, answer."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from contracts import withdrawals
from contracts.models import Withdrawal
from contracts.selectors import withdrawals_of
from contracts.withdrawal_serializers import NewWithdrawalSerializer, WithdrawalSerializer
from wallets.errors import NotFound
from wallets.idempotency import HEADER, once
from wallets.models import BearerToken

IDEMPOTENCY_KEY = OpenApiParameter(
    HEADER,
    str,
    OpenApiParameter.HEADER,
    description="Any text of yours, up to 255 characters: the same request with the same key is "
    "carried out once, and a repeat gets the first answer.",
)
MAX_ID = 2**63 - 1


def _shown(withdrawal: Withdrawal) -> dict[str, Any]:
    return dict(WithdrawalSerializer(withdrawals_of(withdrawal.wallet).get(pk=withdrawal.pk)).data)


class WithdrawalsView(ListAPIView):
    """Your withdrawals; and asking for one."""

    write_scope = BearerToken.Scope.MONEY

    serializer_class = WithdrawalSerializer
    queryset = Withdrawal.objects.none()

    def get_queryset(self) -> QuerySet[Withdrawal]:
        """The withdrawals of the wallet that is logged in."""
        return withdrawals_of(self.request.user)

    @extend_schema(tags=["chain"])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Your withdrawals, newest first, each with its voucher while it is of use."""
        return super().get(request, *args, **kwargs)

    @extend_schema(
        tags=["chain"],
        request=NewWithdrawalSerializer,
        responses={201: WithdrawalSerializer},
        parameters=[IDEMPOTENCY_KEY],
    )
    def post(self, request: Request) -> Response:
        """Ask for credits back; the voucher to redeem on the vault follows once it is signed."""
        form = NewWithdrawalSerializer(data=request.data)
        form.is_valid(raise_exception=True)

        def ask() -> tuple[int, dict[str, Any]]:
            withdrawal = withdrawals.request_withdrawal(
                wallet=request.user, credits_=form.validated_data["credits"]
            )
            return status.HTTP_201_CREATED, _shown(withdrawal)

        return once(request, ask)


class CancelWithdrawalView(APIView):
    """Take a withdrawal back."""

    write_scope = BearerToken.Scope.MONEY

    @extend_schema(tags=["chain"], request=None, responses=WithdrawalSerializer)
    def post(self, request: Request, withdrawal_id: int) -> Response:
        """Take a withdrawal back while no voucher is signed; the credits return at once."""
        if withdrawal_id > MAX_ID:
            raise NotFound
        withdrawal = withdrawals.cancel_withdrawal(wallet=request.user, withdrawal_id=withdrawal_id)
        return Response(_shown(withdrawal))
