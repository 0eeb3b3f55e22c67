"""Every operation, called with what its schema allows and with what it doesn't, by three callers.

`make fuzz` does it at length: FUZZ_EXAMPLES says how many requests each operation gets.
"""

import os
from collections import Counter

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.generation import GenerationMode

from bas_site import export
from tests.attacks.callers import World
from tests.site.admin_world import an_operator
from wallets.login import issue_token

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "4"))
CHECKED = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "response_headers_conformance",
)


def bearer(wallet):
    """What a request brings that comes with a token."""
    text, _ = issue_token(wallet=wallet, name="fuzz", scope="money")
    return {"headers": {"Authorization": f"Bearer {text}"}}


def session(django_client, wallet):
    """What a request brings that comes with a session: its cookie, a CSRF token for its writes."""
    django_client.force_login(wallet)
    key, csrf = django_client.cookies["sessionid"].value, "c" * 32
    return {
        "headers": {"X-CSRFToken": csrf},
        "cookies": {"sessionid": key, "csrftoken": csrf},
    }


@pytest.fixture
def one_connection(db, monkeypatch):
    """Keeps the test's transaction over all calls, as the framework's own client does."""
    signals = request_started, request_finished
    for signal in signals:
        signal.disconnect(close_old_connections)
    monkeypatch.setattr(export, "close_old_connections", lambda: None)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume")
def test_no_request_breaks_the_api_or_tells_of_others(settings, client, capsys, one_connection):
    load_all_checks()
    checks = [CHECKS.get_one(name) for name in CHECKED]
    world = World()
    settings.CHAIN_ID = world.vault.chain_id
    operator = an_operator(superuser=True)
    callers = {
        "ann": bearer(world.ann),
        "carol": session(client, world.carol),
        "operator": session(client.__class__(), operator),
    }
    anns = (
        world.open.invitation,
        world.running.invitation,
        str(world.token.login_id),
        str(world.withdrawal.voucher),
    )
    ids = {
        "match_id": [str(world.open.pk), str(world.running.pk)],
        "withdrawal_id": [world.withdrawal.pk],
        "login_id": [str(world.token.login_id)],
        "address": [world.ann.address],
        "other": [world.bob.address],
        "form": ["csv", "jsonl"],
    }
    schema = schemathesis.openapi.from_wsgi("/api/schema", get_wsgi_application())
    # Each caller comes with a login of its own.
    schema.config.generation.update(with_security_parameters=False)
    answers: Counter[int] = Counter()
    operations = [result.ok() for result in schema.get_all_operations()]
    for operation in operations:
        _fuzz(operation, callers=callers, checks=checks, ids=ids, secrets=anns, answers=answers)
    assert len(operations) == sum(map(len, schema.raw_schema["paths"].values()))
    assert {200, 400, 403, 404} <= set(answers)
    with capsys.disabled():
        print(
            f"\nfuzz: {sum(answers.values())} calls of {len(operations)} operations by "
            f"{len(callers)} callers, findings: none; {dict(sorted(answers.items()))}"
        )


def _fuzz(operation, *, callers, checks, ids, secrets, answers):
    modes = [operation.as_strategy(generation_mode=mode) for mode in GenerationMode]

    @settings(
        max_examples=EXAMPLES,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        derandomize=EXAMPLES < 10,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=st.one_of(modes), pick=st.randoms(use_true_random=False))
    def run(case, pick):
        for name in (case.path_parameters or {}).keys() & ids.keys():
            if pick.random() < 0.7:
                case.path_parameters[name] = pick.choice(ids[name])
        for caller, login in callers.items():
            with transaction.atomic():
                answer = case.call(**login)
                transaction.set_rollback(True)
            answers[answer.status_code] += 1
            case.validate_response(answer, checks=checks)
            if caller != "ann":
                told = answer.text
                assert not [secret for secret in secrets if secret in told], (caller, case)

    run()
