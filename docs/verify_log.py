#!/usr/bin/env python3
"""Verify the files of an event log (docs/log-format.md), and that it is the one that checkpoints commit to (docs/transparency.md), whose
signatures verify.py verifies: python3 verify_log.py FOLDER [CHECKPOINT]..."""
import hashlib, pathlib, re, struct, sys, uuid, zlib

def fail(where, position, byte, what):
    sys.exit(f"{where}, byte {byte}, position {position}: {what}")

def sha(*parts):
    return hashlib.sha256(b"".join(parts)).digest()

def frame(data, at, seed):
    """The frame at an offset: its end, durable, number, revision, last of its append, stream, header, link, state, payload's hash and payload; None when it does not verify."""
    magic, length, durable, checksum = struct.unpack(">4sIQI", data[at:at + 20].ljust(20, b"\0"))
    record = data[at + 20:at + 20 + length]
    if magic != b"RKEV" or not 121 <= len(record) == length or zlib.crc32(record, zlib.crc32(data[at:at + 16], seed)) != checksum:
        return None
    version, number, revision, _, _, flags, s, t, m, d = struct.unpack(">BQQq16sBHIII", record[:56])
    end = 88 + s + t
    state = record[end + 32] if end + 32 < length else None
    if version != 2 or flags > 3 or state not in (0, 1) or length != end + 33 + (16 + m + d) * state or durable >= number:
        return None
    return at + 20 + length, durable, number, revision, bool(flags & 2), record[88:88 + s], record[:end], record[end:end + 32], state, record[56:88], record[end + 33:]

def proves(data, at, seed, position):
    """Whether a frame behind an offset says that a position was durable."""
    while (at := data.find(b"RKEV", at)) >= 0:
        found = frame(data, at, seed)
        if found and found[1] >= position:
            return True
        at += 4
    return False

if len(sys.argv) < 2:
    sys.exit(__doc__)
folder = pathlib.Path(sys.argv[1])
if (folder / "eventstore").is_dir():  # a data folder
    folder /= "eventstore"
if not (folder / "HEAD").is_file() and not (folder / "segments").is_dir():
    sys.exit(f"{folder} is no log: name the folder that holds HEAD and segments/")
kept = {}  # position and link of the chain, by the file of a checkpoint
for file in sys.argv[2:]:
    body = pathlib.Path(file).read_bytes().decode(errors="replace").rpartition("\n\n")[0]
    found = [re.fullmatch("chain ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}) ([1-9][0-9]{0,15}) ([0-9a-f]{64})", line) for line in body.split("\n") if line.startswith("chain ")]
    if len(found) != 1 or not found[0]:
        sys.exit(f"{file}: it commits to no event log by one line")
    kept[file] = found[0].groups()
head = (folder / "HEAD").read_bytes()
if len(head) != 64 or sha(b"HEAD file", head[:56])[:8] != head[56:]:
    fail("HEAD", "unknown", 0, "the checksum is wrong")
log_id, (acknowledged,), newest = head[:16], struct.unpack(">Q", head[16:24]), head[24:56]
position, link, revisions = 0, sha(b"reckon event log 1\n", log_id), {}
for file, (log, _, _) in kept.items():
    if log != str(uuid.UUID(bytes=log_id)):
        sys.exit(f"{file}: it is of the log {log}, and this is {uuid.UUID(bytes=log_id)}")
whole, unfinished = (position, link), 0  # the newest record that ends an append, and the bytes behind it
segments = sorted((folder / "segments").glob("*.seg"))
for path in segments:
    data, tail = path.read_bytes(), path == segments[-1]
    if len(data) < 72 or zlib.crc32(data[:68]) != int.from_bytes(data[68:72], "big"):
        fail(path.name, position + 1, 0, "the checksum of the header is wrong")
    scavenged = data[8:12] == struct.pack(">I", 3)
    if data[:28] != b"RKSEGMNT" + struct.pack(">I", 3 if scavenged else 2) + log_id or data[28:68] != struct.pack(">Q", position) + link or path.stem != f"{position:020d}":
        fail(path.name, position + 1, 0, "the segment does not continue the one before")
    seed, at, unfinished = int.from_bytes(data[68:72], "big"), 72, len(data) - 72
    while at < len(data):
        found, wrong = frame(data, at, seed), "the record is cut short, or its checksum is wrong"
        if found:
            end, _, number, revision, last, stream, header, its_link, state, payload_hash, payload = found
            wrong = ""
            if number != position + 1:
                wrong = f"the record says position {number}"
            elif its_link != sha(link, header) or state and payload_hash != sha(payload) or not (state or scavenged):
                wrong = "the hash chain or the payload's hash is wrong"
        if wrong and tail and position >= acknowledged and not proves(data, at, seed, position + 1):
            break  # the rest of a write that was acknowledged to nobody
        if wrong:
            fail(path.name, position + 1, at, wrong)
        expected = revisions.get(stream, 0)
        if expected == 2**63 or revision not in (expected, 2**63 - 1):
            fail(path.name, number, at, f"revision {revision} does not follow")
        position, link, revisions[stream], at = number, its_link, revision + 1, end
        for file, (_, noted, of) in kept.items():
            if position == int(noted) and link.hex() != of:
                fail(path.name, position, at, f"this event or one before it is not that of {file}")
        if position == acknowledged and (link != newest or not last):
            fail(path.name, position, at, "HEAD names another record")
        if last or not tail:
            whole, unfinished = (position, link), len(data) - at
if position < acknowledged:
    fail("HEAD", position + 1, 16, f"the log ends at {position}, acknowledged were {acknowledged}")
position, link = whole
for file, (_, noted, _) in kept.items():
    if int(noted) > position:
        sys.exit(f"{file}: it is of position {noted}, and the log ends at {position}")
print(f"log {uuid.UUID(bytes=log_id)}: {position} records in {len(segments)} segments verify; link {link.hex()}" + (f"; {unfinished} bytes of an unfinished write follow" if unfinished else ""))
