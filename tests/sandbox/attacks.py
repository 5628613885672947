# ruff: noqa: E501
"""What a hostile program may try. Each says PWNED when it has what it wants.

`{...}` are filled from the surroundings that the tests prepare: a secret in the environment and in a file, live
listeners, a file to destroy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Sign = Literal["says", "hangs", "crashes", "floods"]
"""How the control shows, unsandboxed, that the attack works: it says PWNED, is still running after its time,
dies of a signal, or writes more than the sandbox lets out."""


@dataclass(frozen=True)
class Attack:
    name: str
    source: str
    sign: Sign = "says"
    ends: tuple[str, ...] = ("error",)
    """How it may end in the wasm sandbox."""
    control: bool = True

    def __str__(self) -> str:
        return self.name


_CPU = [
    Attack("endless loop", "while 1: pass", "hangs", ("fuel",)),
    Attack("huge power", "10 ** 10 ** 8", "hangs", ("fuel", "memory")),
    Attack("regex backtracking", "import re; re.match(r'(a+)+$', 'a' * 40 + 'b')", "hangs", ("fuel",)),
    Attack("loop inside C", "sum(range(10 ** 12))", "hangs", ("fuel",)),
    Attack(
        "endless iterator inside C",
        "import collections, itertools; collections.deque(itertools.count(), maxlen=0)",
        "hangs",
        ("fuel",),
    ),
    Attack(
        "ignored signals",
        """
import signal
for number in (signal.SIGINT, signal.SIGTERM):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
while 1: pass
""",
        "hangs",
        ("fuel",),
    ),
    Attack(
        "swallowed exceptions",
        "while 1:\n try:\n  while 1: pass\n except BaseException: pass",
        "hangs",
        ("fuel",),
    ),
    Attack("loop at exit", "import atexit\n@atexit.register\ndef f():\n while 1: pass", "hangs", ("fuel",)),
    Attack("sleep", "import time; time.sleep(10 ** 6)", "hangs", ("timeout",)),
    Attack("sleep in small steps", "import time\nwhile 1: time.sleep(0.01)", "hangs", ("timeout", "fuel")),
    Attack("blocked input", "input()", "hangs", ("error",)),
]

_MEMORY = [
    Attack("list of bytes", "x = [bytes(2 ** 20) for _ in range(400)]; print('PWNED')", ends=("memory",)),
    Attack("one block of bytes", "x = bytes(400 * 2 ** 20); print('PWNED')", ends=("memory",)),
    Attack("long text", "x = 'x' * (4 * 10 ** 8); print('PWNED')", ends=("memory",)),
    Attack(
        "doubling",
        "x = bytearray(1)\nwhile len(x) < 2 ** 28: x = x + x\nprint('PWNED')",
        ends=("memory",),
    ),
    Attack(
        "zlib bomb",
        "import base64, zlib\nx = zlib.decompress(zlib.decompress(base64.b64decode('{bomb}')))\nprint('PWNED')",
        ends=("memory", "fuel"),
    ),
    Attack(
        "parser bomb",
        "import ast; x = ast.parse('[' + '0,' * 300_000 + ']'); print('PWNED')",
        ends=("memory", "fuel"),
    ),
    Attack(
        "recursion",
        """
import sys
sys.setrecursionlimit(10 ** 9)
exec('def f(n):\\n ' + '; '.join(f'v{{k}} = n' for k in range(90)) + '\\n return f(n - 1) if n else print("PWNED")')
f(500_000)
""",
        ends=("memory", "fuel", "error"),
    ),
]

_PROCESSES = [
    Attack(
        "fork",
        "import os\nif not (child := os.fork()): os._exit(0)\nos.waitpid(child, 0); print('PWNED')",
    ),
    Attack("fork bomb", "import os\nwhile 1: os.fork()", control=False),
    Attack(
        "daemon",
        """
import os
if not (child := os.fork()):
    os.setsid()
    os._exit(0)
print('PWNED' if os.waitpid(child, 0)[1] == 0 else '')
""",
    ),
    Attack("thread", "import _thread, time; _thread.start_new_thread(print, ('PWNED',)); time.sleep(1)"),
    Attack("exec", "import os; os.execv('/bin/echo', ['echo', 'PWNED'])"),
    Attack("spawn", "import os; os.waitpid(os.posix_spawn('/bin/echo', ['echo', 'PWNED'], {{}}), 0)"),
    Attack("subprocess", "import subprocess; subprocess.run(['/bin/echo', 'PWNED'])"),
    Attack("shell", "import os; os.system('echo PWNED')"),
    Attack(
        "memfd",
        """
import os
code = os.memfd_create('x')
os.write(code, open('/bin/echo', 'rb').read())
os.execve(code, ['echo', 'PWNED'], {{}})
""",
    ),
    Attack(
        "multiprocessing",
        """
import multiprocessing
a = multiprocessing.get_context('fork').Process(target=print, args=['PWNED'])
a.start(); a.join()
""",
    ),
    Attack("signal to the parent", "import os; os.kill(os.getppid(), 0); print('PWNED')"),
]

_FILES = [
    Attack("passwd", "print('PWNED' if 'root' in open('/etc/passwd').read() else '')"),
    Attack("relative path", "print('PWNED' if 'root' in open('../' * 20 + 'etc/passwd').read() else '')"),
    Attack("environment", "import os; print('PWNED' if os.environ['PEERAGE_TEST_SECRET'] else '')"),
    Attack(
        "environment through proc",
        "print('PWNED' if b'PEERAGE_TEST_SECRET' in open('/proc/self/environ', 'rb').read() else '')",
    ),
    Attack("command line", "print('PWNED' if open('/proc/self/cmdline').read() else '')"),
    Attack("secret file", "print('PWNED' if open('{secret}').read() else '')"),
    Attack(
        "symbolic link",
        "import os; os.symlink('{secret}', 'link'); print('PWNED' if open('link').read() else '')",
    ),
    Attack(
        "inherited descriptors",
        """
import os
for number in range(3, 256):
    try:
        os.lseek(number, 0, 0)
        if b'secret' in os.read(number, 100): print('PWNED')
    except OSError: pass
""",
        ends=("ok",),
    ),
    Attack("listing", "import os; print('PWNED' if os.listdir('/') else '')"),
    Attack("filling the disk", "open('big', 'wb').write(bytes(2 ** 20) * 8); print('PWNED')"),
    Attack("temporary file", "import tempfile; tempfile.TemporaryFile().write(b'x'); print('PWNED')"),
    Attack("deleting", "import os; os.remove('{victim}'); print('PWNED')"),
    Attack("packages of the host", "import pytest; print('PWNED')"),
]

_NETWORK = [
    Attack("TCP", "import socket; socket.create_connection(('127.0.0.1', {port})); print('PWNED')"),
    Attack(
        "UDP",
        "import socket; socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', {port})); print('PWNED')",
    ),
    Attack(
        "Unix socket",
        "import socket; socket.socket(socket.AF_UNIX).connect('{unix}'); print('PWNED')",
    ),
    Attack("listening", "import socket; socket.create_server(('127.0.0.1', 0)); print('PWNED')"),
    Attack("names", "import socket; print('PWNED' if socket.getaddrinfo('localhost', 80) else '')"),
]

_ESCAPES = [
    Attack(
        "subclasses",
        """
found = [c for c in ().__class__.__base__.__subclasses__() if c.__name__ == '_wrap_close']
found[0].__init__.__globals__['system']('echo PWNED')
""",
    ),
    Attack(
        "frames",
        """
import sys
frame = sys._getframe()
while frame:
    module = frame.f_globals.get('os') or __import__('os')
    frame = frame.f_back
module.system('echo PWNED')
""",
    ),
    Attack("ctypes", "import ctypes; ctypes.CDLL(None).system(b'echo PWNED')"),
    Attack("ctypes pointer", "import ctypes; ctypes.string_at(0)", "crashes"),
    Attack(
        "broken code object",
        "exec((lambda: 12345).__code__.replace(co_consts=()))",
        "crashes",
        ("error", "ok"),
    ),
    Attack("abort", "import os; os.abort()", "crashes"),
]

_OUTPUT = [
    Attack("endless output", "while 1: print('x' * 1000)", "floods", ("output",)),
    Attack(
        "endless errors", "import sys\nwhile 1: print('x' * 1000, file=sys.stderr)", "floods", ("output",)
    ),
    Attack("one long line", "import sys\nwhile 1: sys.stdout.write('x' * 10 ** 6)", "floods", ("output",)),
]

ATTACKS = [*_CPU, *_MEMORY, *_PROCESSES, *_FILES, *_NETWORK, *_ESCAPES, *_OUTPUT]
