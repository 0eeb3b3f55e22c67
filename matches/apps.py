from django.apps import AppConfig


class MatchesConfig(AppConfig):
    """The lobby, the stakes and the battle."""

    name = "matches"

    def ready(self) -> None:
        """Tell the wallets' API what matches hold of a player's credits, and streams of changes."""
        from django.db.models.signals import post_save

        from matches.live import announce_saved
        from matches.models import Match
        from matches.selectors import credits_in_play
        from wallets.selectors import HOLDINGS

        HOLDINGS["in_play"] = credits_in_play
        post_save.connect(announce_saved, sender=Match)
