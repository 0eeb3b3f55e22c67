"""What the wallets' API reads and writes."""

from rest_framework import serializers

from wallets.models import BearerToken, Posting, Transfer, Wallet
from wallets.siwe import MAX_LENGTH, MAX_SIGNATURE_LENGTH


class NonceSerializer(serializers.Serializer):
    """A challenge to put into the message to sign."""

    nonce = serializers.CharField(read_only=True)
    expires_at = serializers.DateTimeField(read_only=True)
    domain = serializers.CharField(read_only=True, help_text="the message's domain")
    uri = serializers.CharField(read_only=True, help_text="the message's URI")
    chain_id = serializers.IntegerField(read_only=True)


class LoginSerializer(serializers.Serializer):
    """A signed EIP-4361 message."""

    message = serializers.CharField(
        max_length=MAX_LENGTH, trim_whitespace=False, help_text="the EIP-4361 text that was signed"
    )
    signature = serializers.CharField(
        max_length=MAX_SIGNATURE_LENGTH,
        help_text="0x and, in hex, 65 or 64 bytes; for a contract wallet, what it takes",
    )
    token_name = serializers.CharField(
        required=False,
        max_length=80,
        help_text="ask for a bearer token of this name, for a program, instead of a session",
    )
    token_scope = serializers.ChoiceField(
        choices=BearerToken.Scope.choices,
        default=BearerToken.Scope.PLAY,
        help_text="what the token may do; each may all that those before it may",
    )


class WalletSerializer(serializers.ModelSerializer):
    """The wallet that is logged in."""

    class Meta:
        model = Wallet
        fields = ["address", "created_at"]
        extra_kwargs = {"address": {"allow_null": False, "required": True}}


class LoggedInSerializer(serializers.Serializer):
    """The wallet, and the token if one was asked for."""

    wallet = WalletSerializer()
    token = serializers.CharField(
        required=False, help_text="shown this once; send it as `Authorization: Bearer …`"
    )
    token_expires_at = serializers.DateTimeField(required=False)


class NewTokenSerializer(serializers.ModelSerializer):
    """What a program's token is called, and what it may do."""

    class Meta:
        model = BearerToken
        fields = ["name", "scope"]


class IssuedTokenSerializer(serializers.Serializer):
    """A new token."""

    id = serializers.UUIDField(help_text="to revoke it by")
    token = serializers.CharField(help_text="shown this once; send it as `Authorization: Bearer …`")
    token_expires_at = serializers.DateTimeField()


class LoginRowSerializer(serializers.Serializer):
    """A session or a token of yours."""

    id = serializers.UUIDField(source="login_id", help_text="to revoke it by")
    kind = serializers.ChoiceField(choices=["session", "token"])
    current = serializers.BooleanField(help_text="whether this request comes with it")
    name = serializers.CharField(help_text="a token's; empty for a session")
    scope = serializers.ChoiceField(choices=BearerToken.Scope.choices)
    created_at = serializers.DateTimeField()
    last_used_at = serializers.DateTimeField(help_text="to some minutes")
    expires_at = serializers.DateTimeField()
    user_agent = serializers.CharField(help_text="of the program that logged in")
    address_prefix = serializers.CharField(help_text="the network that it logged in from")


class RevokeSerializer(serializers.Serializer):
    """Which of your logins to end."""

    keep_current = serializers.BooleanField(
        default=False, help_text="keep the one that this request comes with"
    )


class CreditsSerializer(serializers.Serializer):
    """A player's credits, whole numbers."""

    available = serializers.IntegerField(
        help_text="free to use; below zero after a deposit that the chain took back"
    )
    in_play = serializers.IntegerField(help_text="staked on matches that have not ended")
    pending_withdrawal = serializers.IntegerField(help_text="on their way back to the chain")


class PostingSerializer(serializers.ModelSerializer):
    """A line of the statement."""

    kind = serializers.ChoiceField(choices=Transfer.Kind.choices)
    cause = serializers.CharField(source="transfer.key")
    created_at = serializers.DateTimeField()
    amount = serializers.IntegerField()
    balance = serializers.IntegerField(help_text="available credits after this line")

    class Meta:
        model = Posting
        fields = ["id", "kind", "cause", "amount", "balance", "created_at"]
