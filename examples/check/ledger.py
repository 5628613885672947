"""Check an arena.db without Peerage. Usage: pip install zstandard; python ledger.py arena.db"""

import json
import re
import sqlite3
import sys
from hashlib import sha256

import zstandard

LOG = "SELECT position, lower(hex(digest)), about FROM log ORDER BY 1"
RECORDS = """SELECT number, chain, whole(records.body), whole(fixtures.body) FROM records
    LEFT JOIN fixtures USING (number) ORDER BY number"""
EXCHANGES = """SELECT key, player, whole(intents.body), whole(replies.body) FROM intents
    JOIN replies ON replies.intent = intents.id WHERE match = ?"""
OPENED = re.compile(rb'\{"~salt":"[0-9a-f]{32}","value":"[^"\\]*(?:\\.[^"\\]*)*"\}')


def whole(body):
    if not body or body[:4] != b"\x28\xb5\x2f\xfd":
        return body
    return (known if body[4] & 3 else zstandard.ZstdDecompressor()).decompress(body)


def committed(body):
    return OPENED.sub(lambda found: b'{"sealed":"%s"}' % sha256(found[0]).hexdigest().encode(), body)


def leaf(key, player, request, reply):
    parts = [key.encode(), player.encode(), committed(request), committed(reply)]
    lengths = b"".join(len(part).to_bytes(8, "big") for part in parts)
    return sha256(b"\x00" + lengths + b"".join(parts)).digest()


def root(level):
    while len(level) > 1:
        pairs = [level[at : at + 2] for at in range(0, len(level), 2)]
        level = [sha256(b"\x01" + b"".join(pair)).digest() if len(pair) == 2 else pair[0] for pair in pairs]
    return level[0] if level else sha256(b"").digest()


db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
db.create_function("whole", 1, whole)
for (dictionary,) in db.execute("SELECT body FROM dictionaries"):
    known = zstandard.ZstdDecompressor(dict_data=zstandard.ZstdCompressionDict(dictionary))
entries = db.execute(LOG).fetchall()
rows = db.execute("SELECT position, at_ms, topic, whole(body) FROM entries")
log = [sha256(b"\x00" + " ".join(map(str, entry)).encode()).digest() for entry in entries]
said = {at: [sha256(b"%d %b" % (ms, committed(body))).hexdigest(), topic] for at, ms, topic, body in rows}
due = {at: entry for at, *entry in entries if at in said or " " not in entry[1]}
wrong = [f"entry {at}" for at in said.keys() | due if said.get(at) != due.get(at)]
texts = db.execute("SELECT digest, whole(body) FROM texts")
wrong += [f"text {digest.hex()}" for digest, body in texts if sha256(body).digest() != digest]
records = {row[0]: row for row in db.execute(RECORDS)}
folded = dict.fromkeys(int(about[7:]) for *_, about in entries if about.startswith("record "))
wrong += [f"match {number}" for number in records.keys() ^ folded.keys()]
chain = bytes(32)
for number, linked, body, fixture in [records[number] for number in folded if number in records]:
    chain = sha256(b"\x02" + chain + sha256(committed(body)).digest()).digest()
    exchanges = sorted(db.execute(EXCHANGES, [number]), key=lambda row: row[0].encode())
    played = sha256(b"\x05" + b"".join([leaf(*row) for row in exchanges])).hexdigest()
    held = {"number": number, "fixture": sha256(committed(fixture or b"")).hexdigest(), "root": played}
    if chain != linked or not held.items() <= json.loads(body).items():
        wrong.append(f"match {number}")
    chain = linked
print(f"{len(records)} matches, head {chain.hex()}\nlog root {len(log)}:{root(log).hex()}", *wrong, sep="\n")
sys.exit(1 if wrong else 0)
