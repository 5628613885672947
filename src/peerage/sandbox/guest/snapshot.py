# ruff: noqa: F821
# mypy: ignore-errors
"""Run in the guest last, after `execute.py`, while the snapshot of the interpreter is made."""

sys.stdin.reconfigure(encoding="utf-8", errors="strict")
sys.stdout.reconfigure(encoding="utf-8", errors="strict")
sys.stderr.reconfigure(encoding="utf-8", errors="backslashreplace")
os.environ.clear()
random.seed(0)


def serve():
    execute(read_all())


time.clock_getres(time.CLOCK_MONOTONIC)  # the host takes the snapshot inside this call
