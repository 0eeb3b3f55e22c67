"""The services and the stack's command line, each test on roots of its own."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import psycopg
import pytest
from web3 import Web3
from web3.types import TxReceipt

from bas_site.devstack import Anvil, DevStackError, Postgres, Services, Valkey
from bas_site.devstack.ports import HOST, choose_port, free_port
from bas_site.devstack.processes import Process, recorded
from bas_site.devstack.service import PROJECT
from bas_site.devstack.services import remove_root, throwaway_root

SECONDS = 30


@pytest.fixture
def root() -> Iterator[Path]:
    """A root in a folder with a space, below the project's own data: Postgres must reach it."""
    parent = Path(os.environ.get("DEVSTACK_ROOT") or throwaway_root("test"))
    folder = parent / f"a folder {os.getpid()} {time.monotonic_ns()}"
    yield folder
    remove_root(folder)


def eventually(check: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not check():
        assert time.monotonic() < deadline, "it didn't come about in time"
        time.sleep(0.05)


def running_on(root: Path) -> list[str]:
    """Return the processes whose command line names the root."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if str(root) in " ".join(process.cmdline()) and process.pid != os.getpid():
                found.append(" ".join(process.cmdline()))
    return found


# --- ports ------------------------------------------------------------------------------------


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_a_default_port_in_use_is_replaced_and_the_line_names_the_setting(taken_port: int):
    lines: list[str] = []
    port = choose_port("BAS_TEST_PORT", taken_port, lines.append)
    assert port != taken_port
    assert len(lines) == 1
    assert "BAS_TEST_PORT" in lines[0]
    assert str(port) in lines[0]


def test_a_port_that_was_asked_for_is_never_replaced(
    taken_port: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("BAS_TEST_PORT", str(taken_port))
    with pytest.raises(DevStackError, match="BAS_TEST_PORT"):
        choose_port("BAS_TEST_PORT", free_port(), print)


@pytest.mark.parametrize("value", ["0", "65536", "-1", "http", "80.5"])
def test_a_port_that_is_none_is_refused(value: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("BAS_TEST_PORT", value)
    with pytest.raises(DevStackError, match="BAS_TEST_PORT"):
        choose_port("BAS_TEST_PORT", free_port(), print)


# --- the services -----------------------------------------------------------------------------


def test_the_roles_are_what_they_are_named_for(root: Path):
    with Services(root, with_chain=False) as services:
        with psycopg.connect(services.env["DATABASE_OWNER_URL"]) as owner:
            owner.execute("CREATE TABLE thing (id int)")
        with (
            psycopg.connect(services.env["DATABASE_URL"]) as app,
            pytest.raises(psycopg.errors.InsufficientPrivilege),
        ):
            app.execute("SELECT * FROM thing")
        for name in ("DATABASE_URL", "DATABASE_OWNER_URL"):
            with psycopg.connect(services.env[name]) as connection:
                flags = "SELECT rolsuper, rolcreaterole FROM pg_roles WHERE rolname = current_user"
                assert connection.execute(flags).fetchone() == (False, False)
        wrong = services.env["DATABASE_URL"].replace("bas_app:", "bas_app:x")
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(wrong)
    assert (root / "passwords.json").stat().st_mode & 0o777 == 0o600


def test_everything_listens_on_loopback_only(root: Path):
    with Services(root) as services:
        for service in services.running():
            addresses = {
                connection.laddr.ip
                for connection in psutil.Process(service.process.pid).net_connections()
                if connection.status == psutil.CONN_LISTEN
            }
            assert addresses == {HOST}, service.name


def test_a_restart_keeps_the_data_and_a_stop_leaves_no_process(root: Path):
    with Services(root, with_chain=False) as services:
        with psycopg.connect(services.env["DATABASE_OWNER_URL"]) as owner:
            owner.execute("CREATE TABLE kept AS SELECT 42 AS answer")
        passwords = (root / "passwords.json").read_text()
    assert running_on(root) == []
    assert recorded(root) == []
    with (
        Services(root, with_chain=False) as services,
        psycopg.connect(services.env["DATABASE_OWNER_URL"]) as owner,
    ):
        assert owner.execute("SELECT answer FROM kept").fetchone() == (42,)
        assert (root / "passwords.json").read_text() == passwords


# Puts code on the chain that emits one log, with the topic 0xaa, whenever it is called.
LOGGER = "0x67" + "60aa60206000a100" + "60005260086018f3"


def mined(chain: Anvil, transaction: dict[str, str]) -> TxReceipt:
    node = Web3(Web3.HTTPProvider(chain.url))
    sent = chain.rpc("eth_sendTransaction", transaction)
    return node.eth.wait_for_transaction_receipt(sent, poll_latency=0.01)


def test_a_restart_keeps_the_chains_blocks_receipts_and_logs(root: Path):
    with Anvil(root) as chain:
        account = chain.rpc("eth_accounts")[0]
        address = mined(chain, {"from": account, "data": LOGGER})["contractAddress"]
        called = mined(chain, {"from": account, "to": address})["transactionHash"]
        chain.mine(5)
        block = chain.rpc("eth_getBlockByNumber", "0x2", False)
    with Anvil(root) as chain:
        assert chain.rpc("eth_blockNumber") == "0x7"
        assert chain.rpc("eth_getBlockByNumber", "0x2", False)["hash"] == block["hash"]
        assert chain.rpc("eth_getTransactionReceipt", called.to_0x_hex())["status"] == "0x1"
        logs = chain.rpc("eth_getLogs", {"fromBlock": "0x0", "toBlock": "0x3"})
        assert [log["transactionHash"] for log in logs] == [called.to_0x_hex()]
        assert chain.rpc("eth_getCode", address, "latest") != "0x"


def test_a_second_stack_on_a_root_is_told_so_and_disturbs_nothing(root: Path):
    hold = (
        "import sys; from pathlib import Path; from bas_site.devstack import Services\n"
        "with Services(Path(sys.argv[1]), with_chain=False): print('up', flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", hold, str(root)],
        cwd=PROJECT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as first:
        assert first.stdout.readline() == "up\n"
        with pytest.raises(DevStackError, match=f"already runs .*pid {first.pid}"):
            Services(root, with_chain=False).start()
        with pytest.raises(DevStackError, match="already runs"):
            remove_root(root)
        assert all(psutil.pid_exists(record["pid"]) for record in recorded(root))
        first.communicate("\n")
    assert first.returncode == 0
    assert running_on(root) == []


def test_a_service_that_cannot_start_says_why(root: Path, taken_port: int):
    for service in (Postgres, Valkey, Anvil):
        with (
            pytest.raises(DevStackError, match=f"(?s){service.name} ended with status .*in use"),
            service(root, port=taken_port),
        ):
            pass


# --- crashes ----------------------------------------------------------------------------------


def test_what_a_killed_stack_left_is_stopped_and_its_data_kept(root: Path):
    crash = (
        "import sys, os, signal, psycopg; from pathlib import Path\n"
        "from bas_site.devstack import Services\n"
        "services = Services(Path(sys.argv[1])); services.start()\n"
        "owner = psycopg.connect(services.env['DATABASE_OWNER_URL'], autocommit=True)\n"
        "owner.execute('CREATE TABLE kept AS SELECT 42 AS answer')\n"
        "services.chain.rpc('evm_mine')\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", crash, str(root)], cwd=PROJECT, check=False)
    assert done.returncode == -signal.SIGKILL
    left = [record["pid"] for record in recorded(root)]
    assert len(left) == 3
    lines: list[str] = []
    with Services(root, say=lines.append) as services:
        assert not set(left) & set(psutil.pids())
        assert sum("of a killed stack" in line for line in lines) == 3
        with psycopg.connect(services.env["DATABASE_OWNER_URL"]) as owner:
            assert owner.execute("SELECT answer FROM kept").fetchone() == (42,)
        assert services.chain is not None
        assert services.chain.rpc("eth_blockNumber") == "0x1"


def test_a_killed_postgres_recovers_and_a_reused_pid_is_left_alone(root: Path):
    with Postgres(root) as postgres:
        with psycopg.connect(postgres.url("bas_owner")) as owner:
            owner.execute("CREATE TABLE kept AS SELECT 42 AS answer")
        postgres.process.kill()
        pid_file = postgres.data / "postmaster.pid"
        lines = pid_file.read_text().split("\n")
        # As if the dead server's pid belonged to somebody else by now.
        pid_file.write_text("\n".join([str(os.getpid()), *lines[1:]]))
        postgres.start()
        with psycopg.connect(postgres.url("bas_owner")) as owner:
            assert owner.execute("SELECT answer FROM kept").fetchone() == (42,)


def test_a_record_of_a_pid_that_was_given_to_somebody_else_kills_nobody(root: Path):
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as bystander:
        records = root / "processes"
        records.mkdir(parents=True)
        record = {
            "name": "valkey",
            "token": "a token that nobody carries",
            "pid": bystander.pid,
            "born": psutil.Process(bystander.pid).create_time() - 60,
            "recorded": 0,
            "stop_signal": signal.SIGTERM,
            "stop_seconds": 1,
        }
        (records / "valkey.json").write_text(json.dumps(record))
        with Services(root, with_chain=False):
            assert bystander.poll() is None
        bystander.communicate(b"\n")
    assert bystander.returncode == 0


def test_killing_a_process_takes_its_children_along(root: Path):
    # In one write each, which the others' can't fall into.
    forks = (
        "import os, time; os.fork(); os.fork(); os.write(1, b'%d\\n' % os.getpid()); time.sleep(60)"
    )
    process = Process("forker", root)
    process.start([sys.executable, "-c", forks])
    eventually(lambda: len(process.log.read_text().split()) == 4)
    os.kill(process.pid, signal.SIGKILL)
    process.wait(SECONDS)
    process.kill()
    pids = [int(pid) for pid in process.log.read_text().split()]
    eventually(lambda: not any(_alive(pid) for pid in pids))
    process.stop()


def _alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


# --- keeping, and the command line ------------------------------------------------------------


def keep(root: Path, stack_pid: int, *command: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "bas_site.devstack.keep", "--root", str(root)),
            *("--stack-pid", str(stack_pid), "program", "--", *command),
        ],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        text=True,
    )


PROGRAM = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"


def test_a_kept_program_that_is_killed_comes_back_and_ends_with_its_keeper(root: Path):
    with keep(root, os.getpid(), sys.executable, "-c", PROGRAM) as keeper:
        first = int(keeper.stdout.readline())
        os.kill(first, signal.SIGKILL)
        assert f"program (pid {first}) was ended by SIGKILL" in keeper.stdout.readline()
        second = int(keeper.stdout.readline())
        assert second != first
        keeper.terminate()
        keeper.wait(SECONDS)
        assert not _alive(second)


def test_a_kept_program_ends_when_the_stacks_process_is_gone(root: Path):
    with (
        subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as stack,
        keep(root, stack.pid, sys.executable, "-c", PROGRAM) as keeper,
    ):
        program = int(keeper.stdout.readline())
        stack.kill()
        stack.wait()
        keeper.wait(SECONDS)
        assert not _alive(program)


def devstack(*arguments: str) -> "subprocess.CompletedProcess[str]":
    environ = {key: value for key, value in os.environ.items() if "DATABASE" not in key}
    return subprocess.run(
        [sys.executable, "-m", "bas_site.devstack", *arguments],
        cwd=PROJECT,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )


def test_exec_gives_a_command_the_services_and_passes_its_status_on():
    ask = (
        "import os, psycopg; c = psycopg.connect(os.environ['DATABASE_OWNER_URL'])\n"
        "print(os.environ['DEVSTACK_ROOT'], c.execute('SELECT current_user').fetchone()[0])\n"
        "raise SystemExit(7)"
    )
    done = devstack("exec", "--", sys.executable, "-c", ask)
    assert done.returncode == 7, done.stderr
    root, user = done.stdout.rsplit(maxsplit=1)
    assert user == "bas_owner"
    assert not Path(root).exists()
    assert running_on(Path(root)) == []


def test_exec_of_a_command_that_is_not_there_is_a_sentence():
    done = devstack("exec", "--", "no-such-command")
    assert done.returncode == 1
    assert done.stderr.strip() == "Can't run no-such-command: No such file or directory"
