from django.core.management.base import BaseCommand

from matches import leaderboard


class Command(BaseCommand):
    """Builds the ratings anew."""

    help = "Build all ratings anew from the matches that were rated, in their order."

    def handle(self, **_options: object) -> None:
        """Recompute, and say how many matches went into it."""
        self.stdout.write(f"{leaderboard.recompute()} matches rated.")
