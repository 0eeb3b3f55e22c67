"""What is told to others, where a setting names them: errors to Sentry, traces to OpenTelemetry.

Neither is told anything that a log would not be: no header, no cookie, no body, no local variable.
"""

import sentry_sdk
from celery.signals import worker_process_init
from django.conf import settings
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.celery import CeleryInstrumentor
from opentelemetry.instrumentation.django import DjangoInstrumentor
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from sentry_sdk.integrations.stdlib import StdlibIntegration
from sentry_sdk.scrubber import DEFAULT_DENYLIST, EventScrubber

from bas_site.logs import SECRETS


def start() -> None:
    """Start what the settings ask for; called once, when Django has its settings."""
    if settings.SENTRY_DSN:
        sentry_sdk.init(
            dsn=settings.SENTRY_DSN,
            environment=settings.BAS_ENV,
            send_default_pii=False,
            include_local_variables=False,
            max_request_body_size="never",
            # It notes the URL of each request to a node, which may hold a key.
            disabled_integrations=[StdlibIntegration],
            event_scrubber=EventScrubber(denylist=[*DEFAULT_DENYLIST, *SECRETS], recursive=True),
        )
    if settings.OTEL_EXPORTER_OTLP_ENDPOINT:
        _start_tracing()
        # Threads don't outlive a fork, and one of them sends the spans.
        worker_process_init.connect(_start_tracing)


def _start_tracing(**_kwargs: object) -> None:
    provider = TracerProvider(resource=Resource.create({SERVICE_NAME: "block-ape-scissors"}))
    # It takes the endpoint, and the headers that may go with it, from the standard's variables.
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    for instrumentor in (DjangoInstrumentor(), CeleryInstrumentor()):
        if not instrumentor.is_instrumented_by_opentelemetry:
            instrumentor.instrument()
