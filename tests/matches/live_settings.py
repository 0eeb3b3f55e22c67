"""The site's settings, with those of the streams from the environment."""

from bas_site.settings import *  # noqa: F403
from bas_site.settings import env

LIVE_HEARTBEAT_SECONDS = env.float("LIVE_HEARTBEAT_SECONDS", default=15)
LIVE_STREAM_SECONDS = env.float("LIVE_STREAM_SECONDS", default=3600)
LIVE_STREAMS_PER_WALLET = env.int("LIVE_STREAMS_PER_WALLET", default=20)
