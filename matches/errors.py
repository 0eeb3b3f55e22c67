"""What can be wrong with a request to a match."""

from wallets.errors import Conflict, Problem


class NotOpen(Conflict):
    """The match has been joined, cancelled or has expired, or its player is frozen."""

    code, title = "match_not_open", "This match is not open any more"


class NotRunning(Conflict):
    """The match has not started or has ended."""

    code, title = "match_not_running", "This match is not running"


class NotPlayed(Conflict):
    """The match was not played, or not to its end."""

    code, title = "match_not_played", "There is a rematch only of a match that has been played"


class NoTranscript(Conflict):
    """The match has not been played, or is still running: its secret is not for the world yet."""

    code, title = "no_transcript", "A transcript is there once a match was played to its end"


class OwnMatch(Conflict):
    """A wallet can't meet itself."""

    code, title = "own_match", "You can't play against yourself"


class StaleMovement(Conflict):
    """The message is for another movement; `movement` in the problem is the running one."""

    code, title = "stale_movement", "This is not the running movement"


class TooLate(Conflict):
    """The deadline has passed, or choices can't be changed any more."""

    code, title = "too_late", "It is too late for that in this movement"


class TooManyChanges(Conflict):
    """A choice may be replaced a number of times in a movement, not for ever."""

    code, title = "too_many_changes", "You have changed your choice too often in this movement"


class TooManyMatches(Conflict):
    """A player may be in so many matches at once."""

    code, title = "too_many_matches", "You are in too many matches at once"


class TooEarly(Conflict):
    """Reveals are taken once both apes have locked in, or the time to do so is over."""

    code, title = "too_early", "Not before both apes have locked in"


class IllegalChoice(Conflict):
    """The rules do not allow it now."""

    code, title = "illegal_choice", "The rules do not allow that now"


class WrongReveal(Problem):
    """The reveal is not what was committed to."""

    code, title = "wrong_reveal", "This is not what you committed to"


class StakeOutOfRange(Problem):
    """The stake is below or above the limits."""

    code, title = "stake_out_of_range", "The stake is outside the limits"
