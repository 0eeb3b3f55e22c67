"""Sessions in the database, each known as its owner's (the framework's SESSION_ENGINE).

The framework's own belong to nobody: their owner could neither list nor end them.
"""

from django.contrib.sessions.backends import db

from wallets.models import Session


class SessionStore(db.SessionStore):
    """The framework's store, on rows of ours."""

    row: Session | None = None

    @classmethod
    def get_model_class(cls) -> type[Session]:
        """The rows' model."""
        return Session

    def _get_session_from_db(self) -> Session | None:
        # Kept: that the session is used is noted on it, without another look.
        self.row = super()._get_session_from_db()
        return self.row
