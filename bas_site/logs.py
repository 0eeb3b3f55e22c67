"""Logs: structlog, one event a line, for a person in development and as JSON for machines."""

import logging
import logging.config
from typing import Any

import structlog

# Whatever a mistake puts into a log event under one of these names, it never reaches the log.
SECRETS = frozenset(
    {
        "authorization",
        "choice",
        "commitment",
        "cookie",
        "cookies",
        "invitation",
        "password",
        "private_key",
        "salt",
        "secret",
        "server_secret",
        "session_key",
        "signature",
        "token",
    }
)


def _hide_secrets(_logger: Any, _method: str, event: dict[str, Any]) -> dict[str, Any]:
    return {key: "[hidden]" if key.lower() in SECRETS else value for key, value in event.items()}


def configure(options: dict[str, Any]) -> None:
    """Set up structlog and the standard library's logging; Django calls it as LOGGING_CONFIG."""
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.stdlib.PositionalArgumentsFormatter(),
        _hide_secrets,
    ]
    renderer = (
        [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
        if options["json"]
        # Not its own way with exceptions, which prints the local variables of every frame.
        else [
            structlog.dev.ConsoleRenderer(
                colors=False, exception_formatter=structlog.dev.plain_traceback
            )
        ]
    )
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": {
                "structlog": {
                    "()": structlog.stdlib.ProcessorFormatter,
                    "processors": [
                        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                        *renderer,
                    ],
                    "foreign_pre_chain": [*shared, structlog.stdlib.ExtraAdder(), _hide_secrets],
                }
            },
            "handlers": {
                "stderr": {"class": "logging.StreamHandler", "formatter": "structlog"},
            },
            "root": {"handlers": ["stderr"], "level": options["level"]},
            "loggers": {
                # The request middleware says the same with the wallet's id.
                "django.server": {"level": "WARNING"},
                "celery.worker.strategy": {"level": "WARNING"},
                "celery.app.trace": {"level": "WARNING"},
                "celery.beat": {"level": "WARNING"},
            },
        }
    )
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
