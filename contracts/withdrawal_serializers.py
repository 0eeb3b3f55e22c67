"""What the API of withdrawals reads and shows."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from contracts import vouchers
from contracts.models import Chain, Redemption, Withdrawal
from contracts.serializers import ASKED, FINALITY, TokenSerializer

# More digits than there are credits; the limits themselves are the settings'.
MAX_CREDITS = 10**15


class NewWithdrawalSerializer(serializers.Serializer):
    """How many credits to withdraw."""

    credits = serializers.IntegerField(min_value=1, max_value=MAX_CREDITS)


class VoucherSerializer(serializers.Serializer):
    """What `withdraw` of the vault takes, in its order; anyone may send it."""

    chain_id = serializers.IntegerField()
    vault = serializers.CharField(help_text="the contract to call withdraw() on")
    player = serializers.CharField(help_text="who is paid, whoever sends it")
    token = serializers.CharField(help_text="the zero address for the chain's own coin")
    amount = serializers.CharField(help_text="in the token's smallest unit")
    id = serializers.CharField(help_text="a uint256")
    deadline = serializers.CharField(help_text="Unix time of the last block that takes it")
    signature = serializers.CharField(help_text="EIP-712, 65 bytes in hex")


class WithdrawalSerializer(serializers.ModelSerializer):
    """A withdrawal; its voucher is shown from when it is signed until it is paid or expired."""

    token = TokenSerializer()
    credits = serializers.IntegerField()
    amount = serializers.CharField(help_text="in the token's smallest unit")
    waiting_for = serializers.ChoiceField(
        source="hold",
        choices=Withdrawal.Hold.choices,
        allow_blank=True,
        help_text="why there is no voucher yet; empty if it is only a moment",
    )
    deadline = serializers.DateTimeField(
        source="expires_at",
        read_only=True,
        allow_null=True,
        help_text="the time of the last block in which the voucher is good",
    )
    voucher = serializers.SerializerMethodField()
    confirmations = serializers.SerializerMethodField()
    confirmations_asked = serializers.IntegerField(
        source="token.vault.chain.confirmations_asked", allow_null=True, help_text=ASKED
    )
    finality = serializers.ChoiceField(
        source="token.vault.chain.finality", choices=Chain.Finality.choices, help_text=FINALITY
    )
    tx_hash = serializers.SerializerMethodField()

    class Meta:
        model = Withdrawal
        fields = [
            "id",
            "status",
            "waiting_for",
            "credits",
            "token",
            "amount",
            "voucher",
            "deadline",
            "tx_hash",
            "confirmations",
            "confirmations_asked",
            "finality",
            "requested_at",
            "ended_at",
        ]
        read_only_fields = fields

    @extend_schema_field(VoucherSerializer(allow_null=True))
    def get_voucher(self, withdrawal: Withdrawal) -> dict[str, Any] | None:
        """The signed voucher while it is of use."""
        shown = (Withdrawal.Status.SIGNED, Withdrawal.Status.REDEEMED)
        if not withdrawal.signature or withdrawal.status not in shown:
            return None
        return VoucherSerializer(
            {
                "chain_id": withdrawal.token.vault.chain_id,
                "vault": withdrawal.token.vault.address,
                **vouchers.fields(withdrawal, withdrawal.deadline),
                "signature": withdrawal.signature,
            }
        ).data

    def get_confirmations(self, withdrawal: Withdrawal) -> int:
        """Confirmations that the redemption has so far, at most those asked; 0 if there is none."""
        redemption = self._redemption(withdrawal)
        if redemption is None:
            return 0
        return withdrawal.token.vault.chain.confirmations_of(redemption.block_number)

    def get_tx_hash(self, withdrawal: Withdrawal) -> str | None:
        """The transaction that redeemed the voucher."""
        redemption = self._redemption(withdrawal)
        return redemption.tx_hash if redemption else None

    def _redemption(self, withdrawal: Withdrawal) -> Redemption | None:
        orphaned = Redemption.Status.ORPHANED
        return next((r for r in withdrawal.redemptions.all() if r.status != orphaned), None)
