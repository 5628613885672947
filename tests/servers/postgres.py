"""A real PostgreSQL server for tests: started when first asked for, one for each process of tests."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import psycopg

PLACES = "/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin"
PATIENCE_S = 120


# The server ends with whoever started it, also where that was killed; SIGINT disconnects clients.
_AS_LONG_AS_WE_LIVE = '"$@" </dev/null & cat >/dev/null; kill -INT $! 2>/dev/null; wait $!'


class Missing(Exception):
    """No server can be started here; the message says why."""


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


class PostgresServer:
    """A server on a Unix socket in a folder of its own. `address()` is of a schema that nobody used
    before."""

    def __init__(self) -> None:
        """Raises Missing."""
        self._bin = _programs()
        self.folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
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
        self._server: subprocess.Popen[bytes] | None = None
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
        with (self.folder / "log").open("ab") as log:
            self._server = subprocess.Popen(
                ["sh", "-c", _AS_LONG_AS_WE_LIVE, "sh", *command],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                **self._as,
            )
        until = time.monotonic() + PATIENCE_S
        while True:
            try:
                self.sql("SELECT 1")
                return
            except psycopg.OperationalError:
                if self._server.poll() is not None or time.monotonic() > until:
                    raise Missing(f"it does not start: {(self.folder / 'log').read_text()[-500:]}") from None
                time.sleep(0.02)

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

    def stop(self) -> None:
        self._end()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _end(self) -> None:
        if self._server is not None and self._server.stdin is not None:
            self._server.stdin.close()
            self._server.wait()

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
