"""The stack in the foreground, by honcho: one prefix and colour a process."""

import contextlib
import os
import shlex
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import honcho.manager
import honcho.printer
from eth_account import Account
from rich.console import Console
from rich.table import Table

from bas_site.devstack.chain_nodes import CHAIN_ID, DEV_ACCOUNTS, DEV_MNEMONIC
from bas_site.devstack.processes import reap
from bas_site.devstack.service import DEV, PROJECT
from bas_site.devstack.stack import OPERATOR, WEB_READY_SECONDS, Stack

SCREEN_COLUMNS = 118  # of an address and a key beside each other
# Longer than any of the programs may take to stop: a keeper that is killed can't stop its program.
honcho.manager.KILL_WAIT = 20


class Manager(honcho.manager.Manager):
    """Shows the welcome screen.

    Its thread may only start when all processes have: a process must not be forked off while
    another thread holds some lock.
    """

    def __init__(self, stack: Stack) -> None:
        super().__init__(Printer(sys.stdout))
        self._stack = stack

    def _start(self) -> None:
        super()._start()
        threading.Thread(target=_welcome, args=(self._stack,), daemon=True).start()


class Printer(honcho.printer.Printer):
    """Goes on without a terminal: a window that is closed must not stop the stop."""

    def write(self, message: Any) -> None:
        """Print a line, if there is still somebody to print it to."""
        with contextlib.suppress(OSError):
            super().write(message)


def run() -> int:
    """Run the stack until it is told to stop; return the exit status."""
    stack = Stack(DEV / "run", fixed_ports=True)
    stack.up()
    try:
        manager = _manager(stack)
        # Honcho takes SIGINT and SIGTERM; a closed terminal means the same.
        signal.signal(signal.SIGHUP, lambda *_: os.kill(os.getpid(), signal.SIGTERM))
        manager.loop()
    finally:
        ignore_signals(stack)
        reap(stack.root, stack.say, names=set(stack.PROGRAMS))
        stack.services.stop()
    told = manager.returncode in {128 + signal.SIGINT, 128 + signal.SIGTERM}
    stack.say("Stopped; `make run` picks up where this was." if told else "Stopped, see above.")
    return 0 if told else 1


def ignore_signals(stack: Stack) -> None:
    """Let nothing interrupt the stop: what it didn't get to would be left behind."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: stack.say("Stopping; a moment."))


def _manager(stack: Stack) -> Manager:
    manager = Manager(stack)
    for service in stack.services.running():
        follow = [sys.executable, Path(__file__).with_name("follow.py")]
        command = [*follow, service.process.log, service.process.pid]
        manager.add_process(service.name, _shell(command), cwd=str(PROJECT))
    keep = [
        *(sys.executable, "-m", "bas_site.devstack.keep"),
        *("--root", str(stack.root), "--stack-pid", str(os.getpid())),
    ]
    for name, command in stack.commands().items():
        manager.add_process(
            name,
            _shell([*keep, name, "--", *command]),
            env=stack.program_env(name),
            cwd=str(PROJECT),
        )
    return manager


def _shell(command: list[Any]) -> str:
    # exec, so that honcho's signals reach the program and not a shell in front of it.
    return "exec " + shlex.join(str(part) for part in command)


def _welcome(stack: Stack) -> None:
    """Print the screen once the web server answers."""
    deadline = time.monotonic() + WEB_READY_SECONDS
    while not stack.healthy():
        if time.monotonic() > deadline:
            stack.say(f"The web server doesn't answer on {stack.url}/healthz; see its lines above.")
            return
        time.sleep(0.1)
    with contextlib.suppress(OSError):
        _print_screen(stack)


def _print_screen(stack: Stack) -> None:
    # Keys are for copying: a narrow terminal may wrap them, but nothing may cut them off.
    console = Console(highlight=False, width=max(Console().width, SCREEN_COLUMNS))
    facts = Table.grid(padding=(0, 2))
    rows = {
        "site": stack.url,
        "API": f"{stack.url}/api/docs",
        "admin": f"{stack.url}/admin/  login {OPERATOR}, password {stack.operator_password}",
        "chain": f"{stack.env['CHAIN_RPC_URLS']}  chain id {CHAIN_ID}",
        "vault": _vault_address(stack),
        "data": f"{stack.root}  (`make reset` removes it)",
    }
    for name, value in rows.items():
        facts.add_row(f"[bold]{name}[/]", value)
    wallets = Table(
        "address",
        "private key",
        title="Dev wallets, 10,000 ETH each",
        caption="These keys are public knowledge: never use them on a real network.",
    )
    Account.enable_unaudited_hdwallet_features()
    for number in range(DEV_ACCOUNTS):
        account = Account.from_mnemonic(DEV_MNEMONIC, account_path=f"m/44'/60'/0'/0/{number}")
        wallets.add_row(account.address, account.key.to_0x_hex())
    # One write, so that no other line gets in between.
    with console.capture() as screen:
        console.print("\n", facts, "\n", wallets, soft_wrap=True)
    sys.stdout.write(screen.get() + "\nCtrl-C stops everything.\n\n")
    sys.stdout.flush()


def _vault_address(stack: Stack) -> str:
    answer = stack.get("/api/v1/chain")
    return str(answer.json().get("vault")) if answer.is_success else "(not known)"
