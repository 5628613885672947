"""Runs programs that models wrote; docs/sandbox.md says what it covers and what it does not.

`program.Program`, `Limits` and `RunResult` go in and out, `pool.SandboxPool` runs them, `pool.check` says
what protects this machine. The rest is how. A program's output is judged outside, by the game that had it
run.
"""
