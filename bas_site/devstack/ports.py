import errno
import os
import socket
from collections.abc import Callable

from bas_site.devstack.errors import DevStackError

HOST = "127.0.0.1"


def is_free(port: int) -> bool:
    """Say whether nothing listens on this port of the loopback interface, IPv4 or IPv6.

    Both, because a browser that is sent to `localhost` may try either first.
    """
    for family, host in ((socket.AF_INET, HOST), (socket.AF_INET6, "::1")):
        try:
            with socket.socket(family, socket.SOCK_STREAM) as probe:
                # What a stopped server leaves in TIME_WAIT doesn't hinder the next one.
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind((host, port))
        except OSError as error:
            # A machine without IPv6 can't have a listener there.
            if error.errno in (errno.EADDRINUSE, errno.EACCES):
                return False
    return True


def free_port() -> int:
    """Return a port of the loopback interface that nothing listens on."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def choose_port(setting: str, default: int, say: Callable[[str], None]) -> int:
    """Return the port that `setting` names, or its default, or another if that one is taken.

    A port that somebody asked for by name is never silently replaced.
    """
    asked = os.environ.get(setting)
    if asked:
        if not asked.isdecimal() or not 0 < int(asked) < 65536:
            raise DevStackError(f"{setting}={asked} is not a port number (1 to 65535).")
        if not is_free(int(asked)):
            raise DevStackError(f"Port {asked} is in use; set {setting} to a free one.")
        return int(asked)
    if is_free(default):
        return default
    port = free_port()
    say(f"Port {default} is in use, taking {port} instead (to choose one, set {setting}).")
    return port
