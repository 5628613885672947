"""Programs that try to get out of the jail of agents, each attack with a control: outside, it succeeds."""

import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.sandbox.native.needs import needs_jail

from peerage.sandbox.native.confined import listener
from peerage.sandbox.native.namespaces import COUNTS_BY_TREE
from peerage.sandbox.native.places import WorkPlace

pytestmark = needs_jail

SECRET = "the secret of the arena"

ATTACKS = {
    "the ledger": "read(ARENA + '/arena.db')",
    "the keys of the arena": "read(ARENA + '/.env')",
    "the names of hidden tests": "'hidden_tests.py' in os.listdir(ARENA + '/tasks')",
    "the repository of a task": "read(REPOSITORY + '/answer')",
    "the folder of another seat": "read(OTHER + '/work/answer')",
    "the folders of all seats": "OTHER[-6:] in os.listdir(os.path.dirname(OTHER))",
    "a key in the home": "read(HOME + '/.ssh/id')",
    "a password in the home": "read(HOME + '/.netrc')",
    "an open file of the parent": "any(read(file) for file in fds(PARENT, ARENA + '/arena.db'))",
    "the parent's view of the files": "read(f'/proc/{PARENT}/root{ARENA}/arena.db')",
    "the environment of the parent": "b'PATH' in open(f'/proc/{PARENT}/environ', 'rb').read()",
    "a symbolic link": "os.symlink(ARENA, 'link') or read('link/arena.db')",
    "a hard link": "os.link(ARENA + '/arena.db', HARD) or read(HARD)",
    "a hard link of what it may read": "os.link(OUTSIDE, HARD + '2') or True",
    "a file written outside": "open(OUTSIDE, 'a').write('x')",
    "a file made outside": "open(OUTSIDE + '.new', 'w').write('x')",
    "a file's permissions": "os.chmod(OUTSIDE, 0o755) or True",
    "a file's times": "os.utime(OUTSIDE, (1, 1)) or True",
    "a file's attributes": "os.setxattr(OUTSIDE, 'user.x', b'x') or True",
    "a port of the machine": "reply(socket.AF_INET, socket.SOCK_STREAM, ('127.0.0.1', TCP))",
    "a datagram": "reply(socket.AF_INET, socket.SOCK_DGRAM, ('127.0.0.1', UDP))",
    "a socket of a service": "reply(socket.AF_UNIX, socket.SOCK_STREAM, SERVICE)",
    "an abstract socket": "reply(socket.AF_UNIX, socket.SOCK_STREAM, ABSTRACT)",
    "a socket of the virtual machine": "socket.socket(40, socket.SOCK_STREAM)",
    "a signal": "os.kill(VICTIM, 0) or True",
    "a debugger": "libc.ptrace(0x4206, VICTIM, 0, 0) == 0",
    "the memory of others": "open(f'/proc/{VICTIM}/mem', 'rb')",
    "the limits of others": "resource.prlimit(VICTIM, resource.RLIMIT_NOFILE)",
    "a key ring": "libc.syscall(248, b'user', b'peerage', b'x', 1, -2) > 0",
    "a ring of calls": "libc.syscall(425, 1, ctypes.create_string_buffer(120)) >= 0",
}
"""Expressions, true where the attack succeeds."""

HARMFUL = {
    "a mount": "os.system('mount -t tmpfs none .') == 0",
    "a cover lifted": "os.system(f'umount -l {os.path.dirname(ARENA)}; umount -l /tmp; umount -l /dev') == 0",
    "a cover lifted by another user": "os.system('unshare -Urm umount -l /tmp') == 0",
    "privileges": "int(status('CapEff'), 16) or int(status('CapPrm'), 16) or status('NoNewPrivs') != '1'",
    "another user": "os.setuid(1 if os.getuid() != 1 else 2) or True",
    "a program with privileges": "subprocess.run(['su', '-c', 'true'], capture_output=True).returncode == 0",
    "a device": "os.mknod('disk', 0o60600, os.makedev(254, 0)) or True",
    "a disk": "any(stat.S_ISBLK(os.stat(f).st_mode) for f in glob.glob('/dev/*'))",
    "terminals of others": "len(os.listdir('/dev/pts')) > 1",
    "its own folder moved": "os.rename('../work', '../moved') or True",
    "a file beside its folders": "open('../planted', 'w')",
    "settings of the kernel": "open('/proc/sys/kernel/hostname', 'w').write('x')",
    "a way out of a file system": "os.chroot('.') or True",
    "names of what is hidden": "ARENA in open('/proc/1/cmdline').read()",
    "the first process": "os.kill(1, 0) or True",
    "a program of an earlier kind": "libc.syscall(0x40000000 + 39) > 0",
    "a large file": "os.truncate(open('large', 'w').name, 300 << 20) or True",
    "a core": "resource.getrlimit(resource.RLIMIT_CORE) != (0, 0)",
}
"""The same, which nobody should try outside."""

BY_KERNEL = ("a socket of the virtual machine", "a ring of calls", "a key ring", "a file's attributes")

PRELUDE = """
import ctypes, glob, json, os, resource, signal, socket, stat, subprocess, sys
facts, attacks = json.load(sys.stdin)
globals().update(facts)
libc = ctypes.CDLL(None)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

def read(path):
    return SECRET in open(path, 'rb').read().decode()

def fds(process, file):
    # other threads of the process close theirs meanwhile, which a real path is no error for
    return [fd for fd in glob.glob(f'/proc/{process}/fd/*') if os.path.realpath(fd) == os.path.realpath(file)]

def status(name):
    return dict(line.split(':', 1) for line in open('/proc/self/status'))[name].strip()

def reply(family, kind, address):
    with socket.socket(family, kind) as s:
        s.settimeout(0.3)
        s.connect(address)
        s.send(b'?')
        return SECRET in s.recv(100).decode()

for name, attack in attacks.items():
    try:
        print(json.dumps([name, bool(eval(attack))]), flush=True)
    except Exception as error:
        print(json.dumps([name, False]), flush=True)
        print(name, repr(error), file=sys.stderr, flush=True)
"""


class Found(NamedTuple):
    """The findings of the attacks outside, and in the jail."""

    outside: dict[str, bool]
    inside: dict[str, bool]
    errors: str


def attack(names: dict[str, str], facts: dict[str, Any], before: list[str], **how: Any) -> Any:
    words = [*before, sys.executable, "-I", "-c", f"SECRET = {SECRET!r}{PRELUDE}"]
    asked = json.dumps([facts, names])
    done = subprocess.run(words, input=asked, capture_output=True, text=True, timeout=60, **how)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(line) for line in done.stdout.splitlines()), done.stderr


def serve(listening: socket.socket) -> None:
    with suppress(OSError):  # until it is closed
        while listening.type == socket.SOCK_DGRAM:
            listening.sendto(SECRET.encode(), listening.recvfrom(10)[1])
        while True:
            with listening.accept()[0] as near:
                near.recv(10)
                near.sendall(SECRET.encode())


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Found]:
    top = tmp_path_factory.mktemp("machine")
    # Not next to this file: the path of a socket may have 107 bytes, and that of a checkout may have more.
    visible = Path(tempfile.mkdtemp(dir=pwd.getpwuid(os.getuid()).pw_dir, prefix="peerage-tests-"))
    # An arena is hidden wherever it is, not only where all temporary files are.
    arena, repository = visible / "arena", visible / "repository"
    for file in (arena / "arena.db", arena / ".env", arena / "tasks/hidden_tests.py", repository / "answer",
                 top / "home/.ssh/id", top / "home/.netrc"):  # fmt: skip
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(SECRET)
    (visible / "outside").write_text("what everybody may read")
    sockets = [socket.socket(socket.AF_UNIX) for _ in range(2)]
    sockets += [socket.socket(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)]
    addresses: list[Any] = [
        str(visible / "s"),
        f"\0peerage-{os.getpid()}",
        ("127.0.0.1", 0),
        ("127.0.0.1", 0),
    ]
    for each, address in zip(sockets, addresses, strict=True):
        each.bind(address)
        if each.type == socket.SOCK_STREAM:
            each.listen()
        threading.Thread(target=serve, args=(each,), daemon=True).start()
    victim = subprocess.Popen(["sleep", "60"])
    place, other = WorkPlace(), WorkPlace()
    (other.work / "answer").write_text(SECRET)
    hard = Path(tempfile.mkdtemp(dir=visible))
    facts = {
        "ARENA": str(arena), "REPOSITORY": str(repository), "HOME": str(top / "home"),
        "OTHER": str(other.path), "PARENT": os.getpid(), "VICTIM": victim.pid, "HARD": str(hard / "link"),
        "OUTSIDE": str(visible / "outside"), "TCP": sockets[2].getsockname()[1],
        "UDP": sockets[3].getsockname()[1], "SERVICE": addresses[0], "ABSTRACT": addresses[1],
    }  # fmt: skip
    patch = pytest.MonkeyPatch()
    try:
        patch.setenv("HOME", str(top / "home"))
        with (arena / "arena.db").open() as _:
            outside, _ = attack(ATTACKS, facts, [], cwd=top)
            launcher = place.launcher([arena, repository])
            facts["HARD"] = str(place.work / "hard")
            inside, errors = attack(
                ATTACKS | HARMFUL, facts, launcher, cwd=place.work, env=place.environment(os.environ)
            )
        yield Found(outside, inside, errors)
    finally:
        patch.undo()
        victim.kill()
        victim.wait()
        place.remove()
        other.remove()
        shutil.rmtree(visible)
        for each in sockets:
            each.close()


@pytest.mark.parametrize("name", ATTACKS | HARMFUL)
def test_no_attack_succeeds(found: Found, name: str) -> None:
    assert not found.inside[name], found.errors


@pytest.mark.parametrize("name", ATTACKS)
def test_outside_it_does(found: Found, name: str) -> None:
    if name in BY_KERNEL and not found.outside[name]:
        pytest.skip("this kernel has none")
    assert found.outside[name]


def jailed(place: WorkPlace, command: str, **how: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*place.launcher(**how), "sh", "-c", command],
        cwd=place.work,
        env=place.environment(os.environ),
        capture_output=True,
        text=True,
        timeout=20,
    )


@pytest.fixture
def place() -> Iterator[WorkPlace]:
    made = WorkPlace()
    yield made
    made.remove()
    assert not made.path.exists()


def running(mark: str) -> list[str]:
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = file.read_bytes().split(b"\0")
            found += [file.parent.name] if mark.encode() in words else []
    return found


def test_it_works_in_its_folders_as_usual(place: WorkPlace) -> None:
    command = """
        mkdir a b; echo 1 > a/x; mv a/x b/; ln b/x c; ln -s c d; cat d
        echo $HOME > $HOME/.rc; echo 2 > /tmp/y; cat $TMPDIR/y; mv /tmp/y .; cat y
        echo 4 > /dev/shm/z; cat /dev/shm/z
        python3 -c 'import multiprocessing as m; print(m.Pool(2).map(abs, [-3]), m.Lock())'
        echo x > /dev/null; test -t 0 < /dev/ptmx && echo terminal; yes | head -1; exit 7
    """
    done = jailed(place, command)
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["1", "2", "2", "4", "[3] <Lock(owner=None)>", "terminal", "y"]
    assert done.returncode == 7
    assert (place.home / ".rc").read_text() == f"{place.home}\n"


def test_whatever_it_started_ends_with_it(place: WorkPlace) -> None:
    mark = f"3{os.getpid()}.25"
    daemon = f"import os; os.fork() or os.setsid() and os.fork() or os.execlp('sleep', 'sleep', '{mark}')"
    process = subprocess.Popen(
        [
            *place.launcher(),
            "sh",
            "-c",
            f'for i in 1 2 3; do python3 -c "{daemon}" & done; wait; sleep {mark}',
        ],
        cwd=place.work,
        env=place.environment(os.environ),
        start_new_session=True,
    )
    deadline = time.monotonic() + 10
    while len(running(mark)) < 4 and time.monotonic() < deadline:
        time.sleep(0.02)
    assert len(running(mark)) >= 4
    process.terminate()
    assert process.wait(10) == 128 + signal.SIGTERM
    assert running(mark) == []


def test_a_launcher_that_is_killed_as_it_starts_leaves_nothing(place: WorkPlace) -> None:
    mark = f"5{os.getpid()}.25"
    slow = f"""
import time
BEGUN = {str(place.work / "begun")!r}
from peerage.sandbox.jail import Jail
usual = Jail.die_with_parent
Jail.die_with_parent = lambda *given: (open(BEGUN, "w"), time.sleep(0.5), usual(*given))
from"""
    words = [word.replace("from", slow, 1) if "import main" in word else word for word in place.launcher()]
    process = subprocess.Popen([*words, "sh", "-c", f"echo x > ran; exec sleep {mark}"], cwd=place.work)
    deadline = time.monotonic() + 10
    while not (place.work / "begun").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.kill()
    process.wait()
    time.sleep(0.8)
    assert [path.name for path in place.work.iterdir()] == ["begun"]
    assert running(mark) == []


@pytest.mark.parametrize("killed", ["its launcher", "the process that started its launcher"])
def test_when_others_are_killed_it_ends_too(place: WorkPlace, killed: str) -> None:
    mark = f"4{os.getpid()}.25"
    words = [*place.launcher(), "sh", "-c", f"sleep {mark} & sleep {mark}"]
    if killed != "its launcher":
        start = """
import json, os, subprocess, sys
file = sys.argv[-4]
options = json.load(open(file))
options["parent"] = os.getpid()
json.dump(options, open(file, "w"))
subprocess.run(sys.argv[1:])
"""
        words = [sys.executable, "-c", start, *words]
    process = subprocess.Popen(words, cwd=place.work)
    deadline = time.monotonic() + 10
    while len(running(mark)) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    assert len(running(mark)) >= 2
    process.kill()
    process.wait()
    while running(mark) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert running(mark) == []


REMOVED = """exec python3 -c 'import mmap, os, time
files = [open(str(number), "wb+", 0) for number in range(20)]
for number in range(20): os.unlink(str(number))
"""
"""The begin of a program with twenty files in no folder."""


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("sleep 0.8; head -c 80000000 /dev/zero > a; sleep 20", "more than 1,000,000 bytes or 50 files"),
        ("for i in $(seq 60); do : > $i; done; sleep 20", "more than 1,000,000 bytes or 50 files"),
        ("head -c 3000000 /dev/zero > ../home/a; chmod 000 ../home; sleep 20", "bytes"),
        (
            'python3 -c \'import os\nfor _ in range(40): os.mkdir("d" * 99); os.chdir("d" * 99)\'; sleep 20',
            "deep",
        ),
        (f"{REMOVED}[file.write(bytes(10**5)) for file in files]; time.sleep(20)'", "bytes"),
        (
            f"{REMOVED}[file.truncate(10**5) for file in files]\n"
            "maps = [mmap.mmap(file.fileno(), 10**5) for file in files]; files.clear()\n"
            "for each in maps: each[:] = bytes(10**5)\n"
            "time.sleep(20)'",
            "bytes",
        ),
    ],
)
def test_what_grows_too_large_is_killed(place: WorkPlace, command: str, why: str) -> None:
    read, write = os.pipe()
    words = place.launcher(most=(1_000_000, 50), report=write)
    done = subprocess.run(
        [*words, "sh", "-c", command], cwd=place.work, capture_output=True, pass_fds=[write]
    )
    os.close(write)
    with open(read) as report:
        ended = json.loads(report.readline())
    assert (ended["end"], done.returncode) == ("size", 128 + signal.SIGXFSZ)
    assert why in ended["why"]


@pytest.mark.parametrize("by", ["the kernel", "the watch"])
def test_threads_count_as_processes(place: WorkPlace, by: str) -> None:
    program = """
import os, threading, time
threading.stack_size(65536)
try:
    for _ in range(2100):
        threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
except RuntimeError:
    os.write(1, b"refused")
    os._exit(128 + 25)
time.sleep(20)
"""
    (place.work / "bomb.py").write_text(program)
    words, machine = place.launcher(), Path("/proc/sys/kernel/pid_max")
    if by == "the watch":  # as where the kernel does not count by tree
        old = "from peerage.sandbox.native import namespaces; namespaces.COUNTS_BY_TREE = False; from"
        words = [word.replace("from", old, 1) if "import main" in word else word for word in words]
    before = machine.read_text()
    words = [*words, "python3", "bomb.py"]
    done = subprocess.run(words, cwd=place.work, env=place.environment({}), capture_output=True, timeout=20)
    counted = os.getuid() != 0 or (COUNTS_BY_TREE and by == "the kernel")
    assert (done.returncode, done.stdout) == (128 + signal.SIGXFSZ, b"refused" if counted else b"")
    assert machine.read_text() == before


def test_its_programs_end_first_when_memory_is_short(place: WorkPlace) -> None:
    assert jailed(place, "cat /proc/self/oom_score_adj").stdout == "1000\n"


def test_a_program_cannot_report_its_own_end(place: WorkPlace) -> None:
    read, write = os.pipe()
    words = place.launcher(report=write)
    forge = f"python3 -c 'import os; os.write({write}, b\"forged\")' || exit 3"
    subprocess.run([*words, "sh", "-c", forge], cwd=place.work, pass_fds=[write], stderr=subprocess.DEVNULL)
    os.close(write)
    with open(read) as report:
        assert json.loads(report.read()) == {"end": "exit", "code": 3, "why": ""}


def test_the_gateway_is_the_only_way_out(place: WorkPlace) -> None:
    near, far = socket.socketpair()

    def echo(near: socket.socket) -> None:
        with near:
            while part := near.recv(65_536):
                near.sendall(part)

    def serve_all() -> None:
        gateway = listener(near)
        assert gateway is not None
        with gateway, suppress(OSError):
            while True:
                threading.Thread(target=echo, args=(gateway.accept()[0],), daemon=True).start()

    threading.Thread(target=serve_all, daemon=True).start()
    program = """
import socket, threading
sent = bytes(range(256)) * 4096
def talk():
    with socket.create_connection(("127.0.0.1", 8123)) as s:
        threading.Thread(target=lambda: (s.sendall(sent), s.shutdown(1))).start()
        assert b"".join(iter(lambda: s.recv(65536), b"")) == sent
many = [threading.Thread(target=talk) for _ in range(10)]
[t.start() for t in many]; [t.join() for t in many]
for other in (8124, 80):
    try:
        socket.create_connection(("127.0.0.1", other))
    except ConnectionRefusedError:
        print("refused")
"""
    (place.work / "talk.py").write_text(program)
    with near, far:
        done = subprocess.run(
            [*place.launcher(port=8123, report=far.fileno()), "python3", "talk.py"],
            cwd=place.work,
            env=place.environment({}),
            capture_output=True,
            text=True,
            pass_fds=[far.fileno()],
            timeout=20,
        )
    assert (done.stdout, done.stderr) == ("refused\nrefused\n", "")


def test_with_the_network_it_has_that_of_the_machine(place: WorkPlace) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        ask = f"python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}))'"
        assert jailed(place, ask, network=True).returncode == 0
        assert jailed(place, ask).returncode == 1


def test_programs_and_named_files_are_there_though_they_lie_in_hidden_folders(
    place: WorkPlace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    secrets = (
        *("arena/secret", ".local/share/key", ".local/share/uv/credentials/credentials.toml"),
        ".dotnet/corefx/key",
    )
    for name in (".local/bin/tool", ".mine/deep/program", "arena/agent.sh", *secrets):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("#!/bin/sh\necho it runs\n")
        (tmp_path / name).chmod(0o755)
    words = [str(tmp_path / ".mine/deep/program"), str(tmp_path / "arena/agent.sh"), str(tmp_path / "arena")]
    commands = [*words[:2], str(tmp_path / ".local/bin/tool")]
    done = jailed(place, "; ".join(commands), hidden=[tmp_path / "arena"], words=words)
    assert (done.stdout, done.stderr) == ("it runs\n" * 3, "")
    for path in secrets:
        assert (
            jailed(place, f"cat {tmp_path / path}", hidden=[tmp_path / "arena"], words=words).returncode == 1
        )


def test_environments_of_programs_are_there_as_a_whole(place: WorkPlace, tmp_path: Path) -> None:
    arena = tmp_path / "arena"
    library, start = arena / "node_modules/agent/start", arena / "node_modules/.bin/agent"
    for file in (library, start.parent / "other", arena / "secret"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"#!/bin/sh\ncat {arena}/node_modules/library {arena}/secret\n")
        file.chmod(0o755)
    (arena / "node_modules/library").write_text("its library\n")
    start.symlink_to(library)
    done = jailed(place, str(start), hidden=[arena], words=[str(start)])
    assert (done.stdout, done.returncode) == ("its library\n", 1)


def test_a_jail_that_cannot_be_had_is_refused_in_words(place: WorkPlace) -> None:
    done = jailed(place, "true", port=8123, report=1)  # which is no socket
    assert done.returncode == 127
    assert done.stderr == "a jail cannot be made here (network: Socket operation on non-socket)\n"
    assert json.loads(done.stdout) == {"end": "jail", "code": 127, "why": done.stderr.strip()}


def test_namespaces_that_the_system_denies_are_said_with_what_to_do(place: WorkPlace) -> None:
    denied = "from peerage.sandbox.jail import Jail; import ctypes; "
    denied += "Jail.isolate = lambda *_: ctypes.set_errno(1) and (); from"
    words = [word.replace("from", denied, 1) if "import main" in word else word for word in place.launcher()]
    done = subprocess.run([*words, "true"], cwd=place.work, capture_output=True, text=True)
    assert done.returncode == 127
    assert "user.max_user_namespaces" in done.stderr
    assert "unshare: Operation not permitted" in done.stderr
