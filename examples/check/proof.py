"""Check the proof of a match, without its ledger. Needs the package `cryptography`.

Usage: python proof.py 21.jsonl KEY 37    (KEY is the publisher's public key, 37 the match)"""

import json
import re
import sys
from base64 import b64decode
from hashlib import sha256
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

OPENED = re.compile(rb'\{"~salt":"[0-9a-f]{32}","value":"[^"\\]*(?:\\.[^"\\]*)*"\}')


def committed(text):
    return OPENED.sub(lambda found: b'{"sealed":"%s"}' % sha256(found[0]).hexdigest().encode(), text.encode())


def leaf(*texts):
    parts = list(map(committed, texts))
    return sha256(
        b"\x00" + b"".join(len(part).to_bytes(8, "big") for part in parts) + b"".join(parts)
    ).digest()


def node(left, right):
    return sha256(b"\x01" + left + right).digest()


file, key, number = sys.argv[1:]
lines = Path(file).read_text("utf-8").split("\n")  # not splitlines: texts hold U+2028
match = next(one for one in map(json.loads, lines) if one["match"] == int(number))
record, rows = json.loads(match["record"]), json.loads(match["rows"])
head, note = match["proof"].split("\n\n", 1)
_, extra, index, *path = head.split("\n")
entry = b64decode(extra.removeprefix("extra "))
found, at = sha256(b"\x00" + entry).digest(), int(index.removeprefix("index "))
text, signatures = note.rsplit("\n\n", 1)
origin, size, top = text.split("\n")
last = int(size) - 1
for sibling in map(b64decode, path):  # RFC 9162, section 2.1.3.2
    while at == last and not at & 1:
        at, last = at >> 1, last >> 1
    found = node(sibling, found) if at & 1 else node(found, sibling)
    at, last = at >> 1, last >> 1
name, _, public = key.split("+", 2)
signed = next(b64decode(line.split()[2])[4:] for line in signatures.splitlines() if line.split()[1] == name)
Ed25519PublicKey.from_public_bytes(b64decode(public)[1:]).verify(signed, f"{text}\n".encode())
assert (found, last) == (b64decode(top), 0), "it is not in the checkpoint"
rows_digest = sha256(match["rows"].encode()).hexdigest()
assert entry.decode().split()[1:] == [rows_digest, "record", number], "the entry of another match"
linked = b"\x02" + bytes.fromhex(match["chain_before"]) + sha256(committed(match["record"])).digest()
assert sha256(linked).digest() == b64decode(rows[1]), "another record"
assert record["fixture"] == sha256(committed(match["fixture"])).hexdigest(), "another fixture"
exchanges = sorted(match["exchanges"], key=lambda one: one[0].encode())
played = sha256(b"\x05" + b"".join([leaf(*one) for one in exchanges])).hexdigest()
assert record["root"] == played, "other replies"
print(f"match {number}, ended at {rows[0]} ms, {len(exchanges)} replies: in {size} entries signed by {name}")
