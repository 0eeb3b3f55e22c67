"""What the documents tell an integrator is so: every example runs, every file is current."""

import io
import json
import os
import re
import subprocess
import tempfile
import threading
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
import yaml
from django.core.management import call_command
from django.db import connection
from django.test import Client
from drf_spectacular.generators import SchemaGenerator
from eth_account import Account

from contracts.tasks import scan_chain
from engine import Choice
from matches.chance import commitment
from wallets import ledger, siwe
from wallets.accounts import wallet_for

DOCS = Path(__file__).resolve().parents[2] / "docs"
README, LOGIN = DOCS / "api" / "README.md", DOCS / "login.md"


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.M | re.S)


@pytest.fixture
def site(live_server, settings, monkeypatch):
    """A site whose own address is the live server's."""
    settings.SITE_URL = live_server.url
    monkeypatch.setenv("BAS_URL", live_server.url)
    return live_server.url


@pytest.fixture
def vault(site, chain, settings, monkeypatch):
    """A vault on a chain, and somebody who watches it."""
    settings.CHAIN_RPC_URLS = [chain.url]
    settings.CHAIN_CONFIRMATIONS = 1
    monkeypatch.setenv("CHAIN_RPC_URLS", chain.url)
    call_command("deploy_vault", "--dev", verbosity=0, stdout=io.StringIO())
    over = threading.Event()

    def watch():
        while not over.wait(0.1):
            scan_chain(settings.CHAIN_ID)
        connection.close()

    watcher = threading.Thread(target=watch)
    watcher.start()
    yield
    over.set()
    watcher.join()


def run_python(page):
    names = {}
    for block in blocks(page, "python"):
        exec(compile(block, str(page), "exec"), names)
    return names


def run_curl(page, site, token=""):
    for block in blocks(page, "bash"):
        script = block.replace("http://localhost:8000", site)
        done = subprocess.run(
            ["bash", "-euc", script], env={"TOKEN": token, "PATH": "/usr/bin:/bin"}, timeout=30
        )
        assert done.returncode == 0


@pytest.mark.django_db(transaction=True)
def test_every_example_of_the_readme_runs(site, vault, capsys):
    names = run_python(README)
    assert names["over"]["winner"] == "a"
    run_curl(README, site)


@pytest.mark.django_db(transaction=True)
def test_every_example_of_the_login_page_runs(site):
    run_curl(LOGIN, site, run_python(LOGIN)["token"])


@pytest.mark.django_db(transaction=True)
def test_the_typescript_of_the_readme_compiles_with_generated_types_and_plays_a_movement(site):
    """In the project's folder, where its packages are found."""
    (program,) = blocks(README, "typescript")
    players = {"ANN_KEY": Account.create(), "BOB_KEY": Account.create()}
    for name, account in players.items():
        ledger.mint(wallet=wallet_for(account.address), credits_=20, key=f"test:{name}")
    dev = DOCS.parent / ".dev"
    dev.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=dev, prefix="typescript-") as folder:
        (Path(folder) / "play.ts").write_text(program)
        (Path(folder) / "package.json").write_text('{"type": "module"}')

        def run(*command, **env):
            done = subprocess.run(
                ["npx", "--no-install", *command] if command[0] != "node" else command,
                cwd=folder,
                env={"PATH": os.environ["PATH"], "HOME": folder, "BAS_URL": site, **env},
                capture_output=True,
                text=True,
                timeout=120,
            )
            assert done.returncode == 0, done.stdout + done.stderr
            return done.stdout

        types = ("--default-non-nullable", "false", "--output", "schema.ts")
        run("openapi-typescript", str(DOCS / "api" / "openapi.yaml"), *types)
        strict = ("--strict", "--skipLibCheck")
        run("tsc", *strict, "--target", "es2022", "--module", "nodenext", "play.ts")
        keys = {name: account.key.to_0x_hex() for name, account in players.items()}
        assert run("node", "play.js", **keys) == "2 paper\n"


@pytest.mark.parametrize("page", [README, LOGIN])
def test_no_block_is_in_a_language_that_nobody_runs(page):
    languages = set(re.findall(r"^```(\w*)$", page.read_text(), re.M))
    assert languages <= {"python", "bash", "json", "text", "typescript", ""}


@pytest.mark.parametrize("page", [README, LOGIN])
def test_every_link_leads_somewhere(page):
    for link in re.findall(r"\]\(([^)#]+)", page.read_text()):
        assert (page.parent / link).exists(), link


def test_the_message_in_the_login_page_is_one_that_parses():
    (text,) = blocks(LOGIN, "text")
    assert siwe.parse(text.removesuffix("\n")).domain == "localhost:8000"


def test_the_readme_gives_the_commitment_as_it_is_checked():
    (text,) = re.findall(r"^ *`(bas:\{match\}.*)`$", README.read_text(), re.M)
    parts = {"match": "m", "movement": 3, "ape": "b", "move": "rock", "salt": "00"}
    expected = sha256(text.format(**parts, tribute="none").encode()).hexdigest()
    assert expected == commitment(
        match_id="m", movement=3, side="b", choice=Choice("rock"), salt="00"
    )


def test_the_committed_openapi_is_what_the_code_says():
    committed = yaml.safe_load((DOCS / "api" / "openapi.yaml").read_text())
    generated = SchemaGenerator().get_schema(request=None, public=True)
    assert yaml.safe_load(yaml.safe_dump(to_plain(generated))) == committed, "run `make openapi`"


def test_every_operation_says_what_an_error_looks_like():
    schema = yaml.safe_load((DOCS / "api" / "openapi.yaml").read_text())
    operations = [o for path in schema["paths"].values() for o in path.values()]
    assert len(operations) > 10
    for operation in operations:
        assert "application/problem+json" in operation["responses"]["default"]["content"]
        assert operation["tags"]


def to_plain(value):
    if isinstance(value, dict):
        return {str(key): to_plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(inner) for inner in value]
    return value if isinstance(value, int | float | bool | None) else str(value)


class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.links = []

    def handle_starttag(self, tag, attrs):
        self.links += [value for name, value in attrs if name in ("src", "href", "action")]


@pytest.mark.django_db
@pytest.mark.parametrize("page", ["/api/docs", "/"])
def test_a_page_and_its_assets_come_from_this_site_alone(page):
    client = Client()
    html = client.get(page).content.decode()
    parser = Links()
    parser.feed(html)
    assert parser.links
    assert not re.findall(r"""["'(]\s*(?:https?:)?//""", html)
    for link in parser.links:
        assert not urlsplit(link).netloc
        target = urljoin(page, link)
        answer = client.get(target)
        assert answer.status_code in (200, 302), target
        if target.endswith(".css"):
            text = b"".join(answer.streaming_content).decode()
            assert not re.findall(r"@import|url\(\s*[\"']?(?:https?:)?//", text)


COMMITTED = DOCS / "api" / "openapi.yaml"


@pytest.mark.django_db
@pytest.mark.parametrize("query", ["", "?version=a%0Ab", "?version=2&lang=de", "?format=none"])
def test_the_schema_is_the_committed_one_whatever_the_query(query):
    answer = Client().get(f"/api/schema{query}")
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/vnd.oai.openapi")
    assert answer.content == COMMITTED.read_bytes()
    assert "Content-Disposition" not in answer


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("application/json,*/*", "application/json"),  # Swagger UI's
        ("application/vnd.oai.openapi+json", "application/vnd.oai.openapi+json"),
        ("application/yaml", "application/yaml"),
        ("text/html,*/*;q=0.8", "application/vnd.oai.openapi"),
        ("text/html", "application/vnd.oai.openapi"),
    ],
)
def test_the_schema_is_served_in_the_form_that_is_asked_for(accept, kind):
    answer = Client().get("/api/schema", headers={"Accept": accept})
    assert (answer.status_code, answer["Content-Type"]) == (200, kind)
    assert "Accept" in answer["Vary"]
    read = json.loads if kind.endswith("json") else yaml.safe_load
    assert read(answer.content) == yaml.safe_load(COMMITTED.read_text())


@pytest.mark.django_db
def test_the_schema_is_not_built_anew_for_each_who_asks(monkeypatch):
    monkeypatch.setattr(SchemaGenerator, "get_schema", lambda *_args, **_more: 1 / 0)
    assert Client().get("/api/schema").status_code == 200
