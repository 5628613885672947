# ruff: noqa: F401, SIM105, I001
# mypy: ignore-errors
"""Runs one program inside the sandbox. This file is executed in the guest, never in the arena.

It is run once while the snapshot is made, so that every run starts with the interpreter and these modules
loaded. It must keep to the standard library. What it holds is the guest's to read and to break: nothing here
is secret, and a guest that breaks it breaks only its own run.
"""

import atexit
import builtins
import bisect
import collections
import contextlib
import copy
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import heapq
import io
import itertools
import json
import linecache
import math
import operator
import os
import random
import re
import statistics
import string
import sys
import textwrap
import time
import traceback
import types
import typing
import zlib

NAME = "program.py"
FAILED, OUT_OF_MEMORY = 1, 101  # exit codes; the host reads them as `error` and `memory`


def _report(kind, value, trace):
    own = trace.tb_next if trace is not None else None
    if sys.excepthook is not sys.__excepthook__:
        sys.excepthook(kind, value, own)
    else:
        traceback.print_exception(kind, value, own)


def _exit_code(value):
    if value is None:
        return 0
    if isinstance(value, int):
        return FAILED if value & 0xFF else 0
    print(value, file=sys.stderr)
    return FAILED


def execute(source, leave=os._exit, memory_error=MemoryError, system_exit=SystemExit):
    """Run `source` as CPython would run it as a script, then leave the process; never returns."""
    main = types.ModuleType("__main__")
    main.__dict__.update(__builtins__=builtins, __file__=NAME)
    sys.modules["__main__"] = main
    sys.argv = [NAME]
    lines = source if source.endswith("\n") else source + "\n"
    linecache.cache[NAME] = (len(source), None, lines.splitlines(True), NAME)
    code = 0
    try:
        exec(compile(source, NAME, "exec", dont_inherit=True), main.__dict__)
    except system_exit as exiting:
        code = _exit_code(exiting.code)
    except memory_error:
        main.__dict__.clear()  # what filled the memory is most likely a global
        code = OUT_OF_MEMORY
    except BaseException:
        code = FAILED
        try:
            _report(*sys.exc_info())
        except BaseException:
            pass
    try:
        atexit._run_exitfuncs()
        sys.stdout.flush()
    except memory_error:
        code = OUT_OF_MEMORY
    except BaseException:
        code = code or FAILED
    try:
        if code == OUT_OF_MEMORY:
            print("MemoryError", file=sys.stderr)
        sys.stderr.flush()
    except BaseException:
        pass
    leave(code)


def read_all():
    """Everything up to the end of the input, as text."""
    parts = []
    while part := os.read(0, 65_536):
        parts.append(part)
    return b"".join(parts).decode("utf-8", "surrogatepass")
