"""A real PostgreSQL server for tests: started when first asked for, one for each process of tests."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import psycopg
from tests.servers.own_server import PATIENCE_S, Missing, OwnServer

PLACES = "/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin"


def _programs() -> Path:
    found = shutil.which("postgres")
    if found:
        return Path(found).parent
    for pattern in PLACES:
        for place in sorted(Path("/").glob(pattern.lstrip("/")), reverse=True):
            if (place / "postgres").exists():
                return place
    raise Missing("PostgreSQL is not installed (Debian's package `postgresql` has it)")


def _parent(stat: Path) -> str:
    """The parent of a process; empty where it has ended."""
    try:
        state, parent = stat.read_text("utf-8", "replace").rpartition(")")[2].split()[:2]
    except OSError:
        return ""
    return "" if state == "Z" else parent


class PostgresServer(OwnServer):
    """A server on a Unix socket in a folder of its own. `address()` is of a schema that nobody used
    before."""

    ends_by = "INT"  # which disconnects clients

    def __init__(self) -> None:
        """Raises Missing."""
        self._bin = _programs()
        super().__init__("pg-")
        self._as: dict[str, Any] = {"cwd": self.folder}
        if os.geteuid() == 0:  # which PostgreSQL refuses
            try:
                user = pwd.getpwnam("postgres")
            except KeyError:
                user = pwd.getpwnam("nobody")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self._as |= {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        self.folder.chmod(0o755)
        made = [self._bin / "initdb", "-D", self.folder / "data", "-A", "trust", "-U", "tester"]
        self._do([*made, "--no-sync", "-E", "UTF8", "--locale=C"])
        hba = self.folder / "data" / "pg_hba.conf"
        hba.write_text("local secret all scram-sha-256\nlocal all all trust\nlocal replication all trust\n")
        self.start()

    def _do(self, command: list[Any]) -> None:
        done = subprocess.run([*map(str, command)], capture_output=True, text=True, **self._as)
        if done.returncode:
            raise Missing(f"{command[0]} failed: {done.stderr.strip()[-500:]}")

    def start(self) -> None:
        """Start the server, and return when it answers."""
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.folder),
            "fsync": "off",
            "shared_buffers": "16MB",
            "max_connections": "40",
            "autovacuum": "off",
            "logging_collector": "off",
        }
        stated = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        command = [str(self._bin / "postgres"), "-D", str(self.folder / "data"), *stated]
        self._begin(command, self._answers, **self._as)

    def _answers(self) -> bool:
        try:
            self.sql("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True

    def kill(self) -> None:
        """End the server and its children at once, as the kernel or a power failure would."""
        own = (self.folder / "data" / "postmaster.pid").read_text().split()[0]
        # Stopped first, or it would set up a child that is not in the list.
        os.kill(int(own), signal.SIGSTOP)
        children = [at.parent.name for at in Path("/proc").glob("[0-9]*/stat") if _parent(at) == own]
        for each in (*children, own):
            os.kill(int(each), signal.SIGKILL)
        self._end()
        # Another server is refused as long as one of them is attached to its memory.
        until = time.monotonic() + PATIENCE_S
        while any(_parent(Path("/proc", each, "stat")) for each in children) and time.monotonic() < until:
            time.sleep(0.01)

    def give_up(self, address: str, pid: int) -> None:
        """End a process's lines, as the server does with those on which nobody answers any more."""
        self.sql(
            "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity "
            f"WHERE application_name = 'peerage {pid}'"
        )

    def address(self, schema: str = "", user: str = "tester", password: str = "") -> str:
        login = f"{user}:{password}" if password else user
        return (
            f"postgresql://{login}@/postgres?host={self.folder}&schema={schema or 'a' + secrets.token_hex(6)}"
        )

    def sql(self, *statements: str) -> list[tuple[Any, ...]]:
        """Execute statements as the server's owner; the rows of the last one."""
        where = {"host": str(self.folder), "user": "tester", "dbname": "postgres"}
        with psycopg.connect(autocommit=True, **where) as connection:
            for statement in statements:
                cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []
