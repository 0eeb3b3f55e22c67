"""The API of the chain: where to deposit, and what came of it."""

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from contracts.models import Deposit, Vault
from contracts.selectors import deposits_of
from contracts.serializers import ChainSerializer, DepositSerializer
from wallets.authentication import Anyone
from wallets.errors import NotFound
from wallets.services import paused_services


class ChainView(APIView):
    """The chain that players deposit on."""

    permission_classes = [Anyone]

    @extend_schema(responses=ChainSerializer, tags=["chain"])
    def get(self, request: Request) -> Response:
        """The vault's address, the price of a credit in each coin, what makes a deposit count."""
        vault = (
            Vault.objects.filter(chain=settings.CHAIN_ID, current=True)
            .select_related("chain")
            .prefetch_related("tokens")
            .first()
        )
        if vault is None:
            raise NotFound("No vault has been deployed yet.")
        chain = vault.chain
        return Response(
            ChainSerializer(
                {
                    "chain_id": chain.pk,
                    "name": chain.name,
                    "vault": vault.address,
                    "finality": chain.finality,
                    "confirmations": chain.confirmations_asked,
                    "counting_block": chain.counting_block,
                    "scanned_block": chain.scanned_block,
                    "head_block": chain.head_block,
                    "scanned_at": chain.scanned_at,
                    "public_rpc_url": settings.CHAIN_PUBLIC_RPC_URL,
                    "tokens": vault.tokens.all(),
                    "paused": paused_services(),
                }
            ).data
        )


@extend_schema(tags=["chain"])
class DepositsView(ListAPIView):
    """Your deposits, newest first, each with its confirmations so far."""

    serializer_class = DepositSerializer
    queryset = Deposit.objects.none()

    def get_queryset(self):
        """The deposits of the wallet that is logged in."""
        return deposits_of(self.request.user)
