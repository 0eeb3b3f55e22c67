"""Live updates: one subscription and one reader for all the streams of a process.

Valkey only says that a match has changed; what has happened is always read from Postgres. A stream
is registered before it reads, so that nothing can happen between the two. A wake-up may come twice
or never: a poll, one query for all the matches that are watched, finds what was missed, and does
the whole work while Valkey is down.
"""

import asyncio
import contextlib
import functools
import random
import signal
import threading
import time
import weakref
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import redis
import structlog
from django.conf import settings
from django.db import connections, transaction
from redis import asyncio as async_redis
from redis.asyncio.client import PubSub
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.retry import Retry
from rest_framework.exceptions import Throttled

from matches import live_events
from matches.live_events import Batch, Mark
from matches.models import Match

log = structlog.get_logger(__name__)
CHANNEL = "matches.changed"
HEARTBEAT = b":\n\n"
# While Valkey is down, and while it answers: then only what a lost wake-up left behind is found.
POLL_SECONDS, SAFETY_POLL_SECONDS = 1, 5
# A subscription that is silent for this long is asked whether it lives; for twice as long, is dead.
SILENCE_SECONDS = 5
# Short: a request waits for it after its commit.
PUBLISH_SECONDS = 0.5
RETRY_MILLISECONDS = (1_000, 3_000)


# --- Telling ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Announcement:
    match_id: UUID

    def __call__(self) -> None:
        _publish(str(self.match_id))


def announce(match_id: UUID) -> None:
    """Wake the streams of a match, in every process, once the transaction has committed."""
    announcement = _Announcement(match_id)
    # A transaction saves a match several times; its streams are woken once.
    waiting = (function for _, function, _ in transaction.get_connection().run_on_commit)
    if announcement not in waiting:
        transaction.on_commit(announcement, robust=True)


def announce_saved(instance: Match, **_: Any) -> None:
    """Announce a match whose row was saved: a receiver of Django's signal."""
    announce(instance.pk)


_silent_until = 0.0


def _publish(text: str) -> None:
    """Never raises: the change is committed, and streams find it by themselves."""
    global _silent_until
    if time.monotonic() < _silent_until:
        return
    try:
        _valkey().publish(CHANNEL, text)
    except (redis.RedisError, OSError) as error:
        # Not every request has to wait for a Valkey that does not answer.
        _silent_until = time.monotonic() + POLL_SECONDS
        log.warning("wake-up not sent", reason=str(error))


@functools.cache
def _valkey() -> redis.Redis:
    return redis.Redis.from_url(
        settings.VALKEY_URL,
        socket_timeout=PUBLISH_SECONDS,
        socket_connect_timeout=PUBLISH_SECONDS,
        # One that was closed while idle is opened again; nothing is waited for.
        retry=Retry(NoBackoff(), 1),
    )


# --- Listening --------------------------------------------------------------------------------


class Feed:
    """A match that somebody in this process watches."""

    def __init__(self, hub: "Hub", match_id: UUID) -> None:
        self.watchers = 0
        self.wakes = 0
        self.version: tuple[Any, ...] = ()
        self._hub = hub
        self._match_id = match_id
        self._mark = Mark()
        self._woken = asyncio.Event()
        self._reads: dict[tuple[int, int], asyncio.Task[Batch]] = {}

    def wake(self) -> None:
        """There may be something new."""
        self.wakes += 1
        self._woken.set()
        self._woken = asyncio.Event()

    async def woken(self, since: int, seconds: float) -> bool:
        """Wait until there is a wake-up after `since`; whether there was one in time."""
        if self.wakes == since:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._woken.wait()
        return self.wakes != since

    async def read(self, after: int) -> Batch:
        """Read the match; all who are woken by the same change and stand alike share one read."""
        key = (self.wakes, after)
        if key not in self._reads:
            task = self._reads[key] = asyncio.create_task(self._read(after))
            task.add_done_callback(lambda _: self._reads.pop(key))
        # Whoever leaves doesn't take the answer away from the others.
        return await asyncio.shield(self._reads[key])

    async def _read(self, after: int) -> Batch:
        batch = await self._hub.run(live_events.read, self._match_id, after, self._mark)
        self._mark, self.version = batch.mark, batch.version
        return batch


class Hub:
    """What the streams of a process share."""

    def __init__(self) -> None:
        self.closing = False
        self._feeds: dict[UUID, Feed] = {}
        self._listening: bool | None = None
        # One thread, hence one connection to the database for all streams, and none when idle.
        self._reader = ThreadPoolExecutor(1, "live")
        self._jobs = 0
        self._jobs_lock = threading.Lock()
        self._tasks = [asyncio.create_task(self._listen()), asyncio.create_task(self._poll())]
        self._close_on_signals()

    @contextlib.contextmanager
    def watching(self, match_id: UUID) -> Iterator[Feed]:
        """The feed of a match, for as long as somebody watches it."""
        feed = self._feeds.setdefault(match_id, Feed(self, match_id))
        feed.watchers += 1
        try:
            yield feed
        finally:
            feed.watchers -= 1
            if not feed.watchers:
                del self._feeds[match_id]

    async def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function that reads the database, in the reader's thread."""
        with self._jobs_lock:
            self._jobs += 1
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._reader, self._work, function, *arguments)

    def _work(self, function: Callable[..., Any], *arguments: Any) -> Any:
        done = False
        try:
            result = function(*arguments)
            done = True
            return result
        finally:
            with self._jobs_lock:
                self._jobs -= 1
                idle = not self._jobs
            if idle or not done:
                connections.close_all()

    async def _listen(self) -> None:
        """Hold the one subscription of this process, for ever."""
        while True:
            try:
                async with (
                    async_redis.Redis.from_url(
                        settings.VALKEY_URL,
                        socket_connect_timeout=SILENCE_SECONDS,
                        # Made again below, where what was missed in between is looked for.
                        retry=AsyncRetry(NoBackoff(), 0),
                    ) as valkey,
                    valkey.pubsub() as subscription,
                ):
                    await subscription.subscribe(CHANNEL)
                    await self._hear(subscription)
            except (redis.RedisError, OSError, TimeoutError) as error:
                if self._listening is not False:
                    log.warning("live updates by polling: no Valkey", reason=str(error))
                self._listening = False
            await asyncio.sleep(POLL_SECONDS)

    async def _hear(self, subscription: PubSub) -> None:
        asked = False
        while True:
            message = await subscription.get_message(timeout=SILENCE_SECONDS)
            if message is None:
                if asked:
                    raise TimeoutError("Valkey is silent")
                await subscription.ping()
            asked = message is None
            if message is None:
                continue
            if message["type"] == "subscribe":
                if self._listening is False:
                    log.info("live updates by Valkey again")
                self._listening = True
                # Whatever was announced before this moment has not been heard.
                await self._look()
            elif message["type"] == "message":
                with contextlib.suppress(ValueError):
                    if feed := self._feeds.get(UUID(message["data"].decode("latin-1"))):
                        feed.wake()

    async def _poll(self) -> None:
        looked = time.monotonic()
        while True:
            await asyncio.sleep(POLL_SECONDS)
            wait = SAFETY_POLL_SECONDS if self._listening else POLL_SECONDS
            if time.monotonic() - looked >= wait * 0.9:
                looked = time.monotonic()
                await self._look()

    async def _look(self) -> None:
        """Wake the matches that have changed since they were read: one query for all of them."""
        if not self._feeds:
            return
        try:
            versions = await self.run(live_events.versions_of, list(self._feeds))
        except Exception as error:  # the next poll comes soon
            log.warning("poll failed", error=type(error).__name__, reason=str(error))
            return
        for match_id, feed in self._feeds.items():
            if match_id in versions and versions[match_id] != feed.version:
                feed.wake()

    def _close_on_signals(self) -> None:
        """End the streams as soon as the server is told to end: it waits for open requests."""
        if threading.current_thread() is not threading.main_thread():
            return
        loop = asyncio.get_running_loop()

        def close(number: int, frame: Any, *, before: Callable[..., Any]) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed already
                loop.call_soon_threadsafe(self.close)
            before(number, frame)

        for number in (signal.SIGTERM, signal.SIGINT):
            before = signal.getsignal(number)
            if callable(before):
                signal.signal(number, functools.partial(close, before=before))

    def close(self) -> None:
        """End every stream; its reader connects again, to another server."""
        self.closing = True
        for feed in self._feeds.values():
            feed.wake()


_hubs: "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Hub]" = weakref.WeakKeyDictionary()


def _hub() -> Hub:
    loop = asyncio.get_running_loop()
    if loop not in _hubs:
        _hubs[loop] = Hub()
    return _hubs[loop]


# --- Streams ----------------------------------------------------------------------------------

_open: Counter[int] = Counter()
_open_lock = threading.RLock()


def _leave(wallet_id: int) -> None:
    with _open_lock:
        _open[wallet_id] -= 1
        if not _open[wallet_id]:
            del _open[wallet_id]


class Stream:
    """A reader's stream: what happened after event `after`, then what happens, to the end."""

    def __init__(self, *, match_id: UUID, wallet_id: int, after: int) -> None:
        """Raises Throttled if the wallet has too many open in this process."""
        self._match_id = match_id
        self._after = after
        limit = settings.LIVE_STREAMS_PER_WALLET
        with _open_lock:
            if _open[wallet_id] >= limit:
                raise Throttled(detail=f"You have {limit} streams open; close one first.")
            _open[wallet_id] += 1
        # Also a stream that is never begun, its client being gone, comes to an end.
        weakref.finalize(self, _leave, wallet_id)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        # Readers that lost the same server don't all come back in the same instant.
        yield b"retry: %d\n\n" % random.randint(*RETRY_MILLISECONDS)  # noqa: S311
        hub = _hub()
        with hub.watching(self._match_id) as feed:
            async for frames in self._frames(hub, feed):
                yield frames

    async def _frames(self, hub: Hub, feed: Feed) -> AsyncIterator[bytes]:
        heartbeat = settings.LIVE_HEARTBEAT_SECONDS
        # Then it comes back, and who it is is asked again.
        until = time.monotonic() + settings.LIVE_STREAM_SECONDS
        last, clock = self._after, b""
        while not hub.closing and time.monotonic() < until:
            wakes = feed.wakes
            try:
                batch = await feed.read(last)
            except Exception as error:
                # A reader that is sent away meets an error next, after which browsers give up.
                log.warning("stream not read", error=type(error).__name__, reason=str(error))
                yield HEARTBEAT
                await asyncio.sleep(POLL_SECONDS)
                continue
            news = batch.frames if batch.clock == clock else batch.frames + batch.clock
            last, clock = batch.last, batch.clock
            if news:
                yield news
            if batch.ended:
                return
            while not await feed.woken(wakes, heartbeat) and time.monotonic() < until:
                yield HEARTBEAT
