class DevStackError(Exception):
    """Something the person at the terminal can put right; its text says how."""
