# mypy: ignore-errors
"""A program for the sandbox: calls one function of a submission once and prints the result as plain JSON.

Executed in the guest, with a JSON object on stdin: `source`, `function`, `arguments`. It never sees what is
expected; whatever a submission does to it, all it can do is to claim an answer. Only values whose type is
exactly one of JSON's leave, tuples as lists.
"""

import io
import json
import math
import os
import sys
import types


class Nowhere(io.TextIOBase):
    def writable(self):
        return True

    def write(self, text):
        return len(text)


def plain(value):
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind is float and math.isfinite(value):
        return value
    if kind in (list, tuple):
        return [plain(item) for item in value]
    if kind is dict and all(type(key) is str for key in value):
        return {key: plain(item) for key, item in value.items()}
    raise TypeError(f"the result holds {kind.__name__} {value!r:.80}, which is not plain JSON")


request = json.loads(sys.stdin.read())
submission = types.ModuleType("submission")
sys.modules["submission"] = submission
sys.stdout = Nowhere()
exec(compile(request["source"], "submission.py", "exec", dont_inherit=True), submission.__dict__)
answer = getattr(submission, request["function"])(*request["arguments"])
text = json.dumps(plain(answer)).encode()
while text:
    text = text[os.write(1, text) :]
