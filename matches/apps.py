from django.apps import AppConfig


class MatchesConfig(AppConfig):
    """The lobby, the stakes and the battle."""

    name = "matches"

    def ready(self) -> None:
        """Tell the wallets' API what matches hold of a player's credits."""
        from matches.selectors import credits_in_play
        from wallets.selectors import HOLDINGS

        HOLDINGS["in_play"] = credits_in_play
