"""What the chain's API shows. Amounts are decimal strings in the token's smallest unit."""

from rest_framework import serializers

from contracts.models import Chain, Deposit, Token
from wallets.models import Service

FINALITY = "what makes it count: so many confirmations, or the node's safe or finalized block"
ASKED = "null where the node's safe or finalized block decides"


class TokenSerializer(serializers.ModelSerializer):
    """A coin that the vault takes."""

    credit_price = serializers.CharField(help_text="of one credit, in the coin's smallest unit")

    class Meta:
        model = Token
        fields = ["address", "symbol", "decimals", "credit_price"]


class PausedSerializer(serializers.Serializer):
    """What operators have paused."""

    service = serializers.ChoiceField(source="name", choices=Service.Name.choices)
    reason = serializers.CharField(source="pause_reason")


class ChainSerializer(serializers.Serializer):
    """Where to deposit, and how far the chain has been read."""

    chain_id = serializers.IntegerField()
    name = serializers.CharField()
    vault = serializers.CharField(help_text="the address to call deposit() on")
    finality = serializers.ChoiceField(choices=Chain.Finality.choices, help_text=FINALITY)
    confirmations = serializers.IntegerField(
        allow_null=True, help_text=f"asked for before a deposit is credited; {ASKED}"
    )
    counting_block = serializers.IntegerField(help_text="deposits up to this block count")
    scanned_block = serializers.IntegerField()
    head_block = serializers.IntegerField()
    scanned_at = serializers.DateTimeField(allow_null=True, help_text="of the last look at it")
    public_rpc_url = serializers.CharField(
        help_text="a node for wallets that don't know the chain; empty if there is none"
    )
    tokens = TokenSerializer(many=True)
    paused = PausedSerializer(many=True, help_text="nothing new of it is taken; nothing is lost")


class DepositSerializer(serializers.ModelSerializer):
    """A deposit, with the confirmations that it has so far."""

    token = TokenSerializer()
    amount = serializers.CharField(help_text="in the token's smallest unit")
    credits = serializers.IntegerField()
    confirmations = serializers.SerializerMethodField()
    confirmations_asked = serializers.IntegerField(
        source="vault.chain.confirmations_asked", allow_null=True, help_text=ASKED
    )
    finality = serializers.ChoiceField(
        source="vault.chain.finality", choices=Chain.Finality.choices, help_text=FINALITY
    )

    class Meta:
        model = Deposit
        fields = [
            "id",
            "status",
            "token",
            "amount",
            "credits",
            "confirmations",
            "confirmations_asked",
            "finality",
            "tx_hash",
            "block_number",
            "seen_at",
            "credited_at",
        ]
        read_only_fields = fields

    def get_confirmations(self, deposit: Deposit) -> int:
        """Blocks from the deposit's own, counted in, to the newest one read; at most those asked.

        0 for one that fell out of the chain.
        """
        if deposit.status == Deposit.Status.ORPHANED:
            return 0
        return deposit.vault.chain.confirmations_of(deposit.block_number)
