"""The Dockerfile and compose.yaml, as far as they can be checked without a container engine.

The image's files are laid out in a folder as the Dockerfile copies them, what it installs is laid
beside them by links, and its commands are run with that alone: what works here has everything that
it needs in the image.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from fnmatch import fnmatch
from importlib.metadata import distribution
from pathlib import Path, PurePath
from typing import Any

import httpx
import pytest
import yaml
from django.core.management import get_commands, load_command_class
from packaging.requirements import Requirement

from bas_site.devstack.service import PROJECT
from bas_site.devstack.stack import Stack
from tests.ops.commands import run

OPS = PROJECT / "docs" / "ops"
INCIDENTS = (OPS / "incidents.md").read_text()
PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md"))]
DOCKERFILE = (PROJECT / "Dockerfile").read_text().replace("\\\n", " ")
COMPOSE = yaml.safe_load((PROJECT / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
PACKAGES = "packages"
# Of the image's modules, what needs more than it installs: a developer's, and the apes' solver.
FOR_DEVELOPERS = ("bas_site.demo", "bas_site.devstack", "engine.apes.solve")
# The last stage is what runs.
IMAGE = DOCKERFILE.rpartition("\nFROM ")[2]
PRODUCTION = {
    "BAS_ENV": "production",
    "SECRET_KEY": "a key of this test's own, of fifty characters or more, no. 4729",
    "FIELD_KEY": "another key of this test's own",
    "SITE_URL": "https://play.example.org",
    "BEHIND_PROXY": "on",
    "CHAIN_ID": "11155111",
    "CHAIN_RPC_URLS": "https://one.example.org,https://two.example.org",
}


# What is served out of docs/, with some words of it.
DOCUMENTS = {"/api/schema": "openapi: 3", "/api/problems": "match_not_open"}


def copied(stage: str) -> list[tuple[str, str]]:
    """What a stage copies from the project: source and target."""
    lines = re.findall(r"^COPY (?!--from)(.+)$", stage, re.MULTILINE)
    words = [line.split() for line in lines]
    return [(source, target) for *sources, target in words for source in sources]


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The image's files in a folder, static files collected by the Dockerfile's own command."""
    folder = tmp_path_factory.mktemp("image") / "app"
    folder.mkdir()
    for source, target in copied(IMAGE):
        place = folder / target
        place.parent.mkdir(parents=True, exist_ok=True)
        if (PROJECT / source).is_dir():
            shutil.copytree(PROJECT / source, place, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(PROJECT / source, place / Path(source).name if place.is_dir() else place)
    shutil.copytree(PROJECT / "web" / "dist", folder / "web" / "dist")
    install(folder.parent / PACKAGES)
    (command,) = re.findall(r"^RUN (.+collectstatic.+)$", IMAGE, re.MULTILINE)
    settings = dict(re.findall(r"(\w+)=(\S+)", command))
    run_in(folder, command.partition("python ")[2].split(), settings)
    return folder


def install(folder: Path) -> None:
    """What the image installs, by links to where it is installed here."""
    folder.mkdir()
    (source,) = re.findall(r"-r (requirements\S+)", DOCKERFILE)
    lines = (PROJECT / source).read_text().splitlines()
    for pinned in (Requirement(line.rstrip(" \\")) for line in lines if line[0].isalpha()):
        if pinned.marker and not pinned.marker.evaluate():
            continue
        there = distribution(pinned.name)
        for top in {path.parts[0] for path in there.files or []} - {"..", "__pycache__"}:
            if not (folder / top).exists():
                (folder / top).symlink_to(there.locate_file(top))


def python_in(folder: Path) -> tuple[list[str], dict[str, str]]:
    """A Python that sees the image's packages alone, and its environment."""
    return [sys.executable, "-S"], {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(folder.parent / PACKAGES),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def run_in(folder: Path, arguments: list[str], settings: dict[str, str]) -> str:
    """Run Python in the image's folder, with what the image installs and these settings alone."""
    python, env = python_in(folder)
    return run([*python, *arguments], folder=folder, env=env | settings)


def test_the_dockerfile_keeps_the_rules_of_the_trade():
    hadolint = shutil.which("hadolint", path=Path(sys.executable).parent)
    if hadolint is None:
        pytest.skip("NOT CHECKED: hadolint has no program for this machine.")
    done = subprocess.run(
        [hadolint, "--no-color", PROJECT / "Dockerfile"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_whatever_is_copied_is_there_and_is_not_ignored():
    ignored = (PROJECT / ".dockerignore").read_text().split("\n")
    allowed = [line.removeprefix("!") for line in ignored if line.startswith("!")]
    for source, _ in copied(DOCKERFILE):
        if source == "web/dist":
            continue
        assert (PROJECT / source).exists(), source
        assert any(fnmatch(source, pattern) for pattern in allowed), source
    # Nothing is sent to the builder that no stage asks for.
    assert set(allowed) == {source for source, _ in copied(DOCKERFILE)}


def test_the_image_answers_a_check_for_deployment_without_a_warning(image: Path):
    settings = PRODUCTION | {"DATABASE_URL": "postgres://nobody", "VALKEY_URL": "redis://nobody"}
    said = run_in(image, ["manage.py", "check", "--deploy", "--fail-level", "WARNING"], settings)
    assert "no issues (0 silenced)" in said


def test_the_image_holds_no_secret_and_nothing_of_the_tests(image: Path):
    there = {path.relative_to(image).parts[0] for path in image.rglob("*")}
    assert not there & {"tests", ".git", ".dev", "bench", "node_modules"}
    assert not [path for path in image.rglob("*") if path.suffix in {".env", ".pem"}]


def test_the_image_has_what_its_modules_import_and_no_test_tools(image: Path):
    rooms = [source for source, _ in copied(IMAGE) if (PROJECT / source / "__init__.py").exists()]
    settings = PRODUCTION | {"DATABASE_URL": "postgres://nobody", "VALKEY_URL": "redis://nobody"}
    walk = f"""
import django, importlib, pkgutil
django.setup()
for room in {rooms}:
    for module in pkgutil.walk_packages([room], room + ".", onerror=lambda name: None):
        if not module.name.endswith("__main__"):
            try:
                importlib.import_module(module.name)
            except ModuleNotFoundError as error:
                print(module.name, error.name)
"""
    said = run_in(image, ["-c", walk], settings | {"DJANGO_SETTINGS_MODULE": "bas_site.settings"})
    lacking = dict(line.split() for line in said.splitlines())
    assert lacking["engine.apes.solve"] == "numpy"
    assert [name for name in lacking if not name.startswith(FOR_DEVELOPERS)] == []
    assert not {"pytest", "hypothesis", "ruff"} & set(os.listdir(image.parent / PACKAGES))


def test_each_program_of_the_stack_is_a_service_that_runs_the_same(tmp_path: Path):
    def essence(command: list[str]) -> tuple[str, ...]:
        """The program, its task and its queue: how many and where is the place's own affair."""
        words = [word for word in command if word not in (sys.executable, "-m")]
        queue = [words[i + 1] for i, word in enumerate(words) if word == "--queues"]
        task = words[3:4] if words[0] == "celery" else words[1:2]
        return (words[0], *task, *queue)

    (web,) = re.findall(r"^CMD (.+)$", IMAGE, re.MULTILINE)
    deployed = {"web": yaml.safe_load(web)} | {
        name: service["command"]
        for name, service in SERVICES.items()
        if name in ("worker", "signer", "beat")
    }
    developed = {
        name: words for name, words in Stack(tmp_path).commands().items() if name != "miner"
    }
    assert {n: essence(c) for n, c in deployed.items()} == {
        n: essence(c) for n, c in developed.items()
    }


def test_compose_yaml_keeps_to_the_compose_specification():
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    run([*check, PROJECT / "compose.yaml"], folder=PROJECT, env=dict(os.environ))


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_each_service_can_do_little_and_says_how_it_is(name: str):
    service = SERVICES[name]
    if name != "postgres":  # which has to change its user, and write
        assert service["cap_drop"] == ["ALL"]
        assert service["read_only"] is True
        assert service["security_opt"] == ["no-new-privileges:true"]
    if name not in ("migrate", "beat"):  # the one ends, the other answers nobody
        assert service["healthcheck"]["test"][0] in ("CMD", "CMD-SHELL")
    # The world reaches nothing but by a proxy that speaks TLS.
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))


def test_only_the_signer_is_given_its_key_and_only_migrations_the_owner():
    files = {name: service.get("env_file", []) for name, service in SERVICES.items()}
    assert [name for name, given in files.items() if "signer.env" in given] == ["signer"]
    assert [name for name, given in files.items() if "owner.env" in given] == ["migrate"]


def test_the_image_serves_and_is_healthy_by_its_own_measure(image: Path):
    """The command of the image and the health check of compose.yaml, on a port of this test's."""
    from bas_site.devstack.ports import free_port
    from bas_site.devstack.processes import Process, wait_until

    port = str(free_port())
    (words,) = re.findall(r"^CMD (.+)$", IMAGE, re.MULTILINE)
    command = [
        w.replace("0.0.0.0", "127.0.0.1").replace("8000", port) for w in yaml.safe_load(words)
    ]
    probe = SERVICES["web"]["healthcheck"]["test"][1:]
    probe = [sys.executable, *(word.replace("8000", port) for word in probe[1:])]
    settings = PRODUCTION | {
        "DATABASE_URL": os.environ["DATABASE_URL"],
        "VALKEY_URL": os.environ["VALKEY_URL"],
    }

    def healthy() -> bool:
        return subprocess.run(probe, capture_output=True, check=False).returncode == 0

    python, env = python_in(image)
    server = Process("image-web", image.parent)
    server.start([*python, "-m", *command], env=env | settings, cwd=image)
    try:
        wait_until(healthy, seconds=30, process=server)
        for path, document in DOCUMENTS.items():
            # As the proxy asks it.
            url, headers = f"http://127.0.0.1:{port}{path}", {"X-Forwarded-Proto": "https"}
            answer = httpx.get(url, headers=headers)
            assert (answer.status_code, document in answer.text) == (200, True), path
    finally:
        server.stop()


def test_the_documents_name_each_file_that_compose_reads():
    page = (OPS / "deploy.md").read_text()
    for service in SERVICES.values():
        given = service.get("env_file", [])
        for name in [given] if isinstance(given, str) else given:
            assert f"`{name}`" in page, name


def test_each_alert_leads_to_an_incident_that_names_it():
    alerts = re.findall(r"alert: (\w+)", (OPS / "alerts.yml").read_text())
    assert [alert for alert in alerts if not re.search(rf"\b{alert}\b", INCIDENTS)] == []


# Of Compose's commands, those that are for all services unless some are named.
ALL_OR_SOME = ("build", "logs", "restart", "stop", "up")


def code_of(page: Path) -> list[str]:
    """Each line of a page's blocks of code, and each code in its text; comments are left out."""
    text = page.read_text().replace("\\\n", " ")
    blocks = re.findall(r"^ *```\w*\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL)
    prose = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL)
    spans = [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", prose)]
    return [re.sub(r"\s#.*", "", line) for line in "".join(blocks).splitlines()] + spans


@pytest.mark.parametrize("document", PAGES, ids=lambda path: str(path.relative_to(PROJECT)))
def test_each_command_that_a_page_names_takes_its_words(document: Path):
    """As the command's own parser sees it; a page stands for numbers by FROM and TO."""
    for code in code_of(document):
        for name, words in re.findall(r"manage\.py ([a-z_]+)(.*)", code):
            parser = load_command_class(get_commands()[name], name).create_parser("manage.py", name)
            given = re.sub(r"\b(FROM|TO)\b", "1", words.translate({91: None, 93: None}))
            parser.parse_args(shlex.split(given))


@pytest.mark.parametrize("document", PAGES, ids=lambda path: str(path.relative_to(PROJECT)))
def test_each_command_for_compose_names_services_and_fits_what_it_reads(document: Path):
    for code in code_of(document):
        for verb, words in re.findall(r"docker compose (\w+)([^<>]*)", code):
            known = {*SERVICES, *([""] if verb in ALL_OR_SOME else [])}
            plain = re.sub(
                r" --?(?:env|volume)[ =](?:\"[^\"]*\"|\S+)| --?[\w-]+", "", words
            ).split()
            named = plain if verb in ALL_OR_SOME else plain[:1]
            assert known.issuperset(named or [""]), code
            if verb == "exec" and "<" in code:
                assert "-T" in words, f"{code} asks for a terminal"


def test_what_the_incidents_call_manage_py_is_in_the_image():
    command = r"```sh\ndocker compose run --rm (\w+) python manage\.py …\n```"
    (service,) = re.findall(command, INCIDENTS)
    assert service in SERVICES
    assert "ENTRYPOINT" not in DOCKERFILE
    assert "\nWORKDIR /app\nCOPY manage.py ./\n" in re.sub(r"COPY --from.+\n", "", IMAGE)


def test_the_signer_reads_the_keystore_that_the_page_has_made():
    page = (OPS / "deploy.md").read_text()
    (place,) = re.findall(r"`WITHDRAWAL_KEYSTORE=([^`]+)`", page)
    ((user, folder),) = re.findall(r"install --directory --owner (\d+) --mode 700 (\S+)\n", page)
    ((source, mount, made),) = re.findall(
        r'run --rm --no-deps --volume "\$PWD/([^:]+):([^"]+)" \\\n'
        r"  --env WITHDRAWAL_KEYSTORE=(\S+) signer python manage\.py make_keystore\n",
        page,
    )
    (volume,) = SERVICES["signer"]["volumes"]

    assert f"--uid {user} " in IMAGE
    assert f"\nUSER {user}\n" in IMAGE
    assert source == folder
    assert volume["source"] == f"./{folder}"
    # Where it is made is where the signer looks, by another way in: its own is to read only.
    assert PurePath(place).relative_to(volume["target"]) == PurePath(made).relative_to(mount)
    assert volume["read_only"] is True
    assert mount != volume["target"]
    # Docker makes a folder of root's where there is none, unless it is told not to.
    assert volume["bind"] == {"create_host_path": False}


def test_no_secret_of_a_deployment_is_committed_by_mistake():
    ignored = (PROJECT / ".gitignore").read_text().split()
    assert {"*.env", "*.dump", "/signer/"} <= set(ignored)


def test_the_database_is_not_taken_for_ready_while_it_is_set_up():
    """Its image starts a server that hears no network first, and stops it again."""
    assert "--host 127.0.0.1" in SERVICES["postgres"]["healthcheck"]["test"][1]
