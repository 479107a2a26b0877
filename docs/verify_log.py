#!/usr/bin/env python3
"""Verify the files of an event log (docs/log-format.md): python3 verify_log.py FOLDER"""
import hashlib, pathlib, struct, sys, uuid, zlib

def fail(where, position, byte, what):
    sys.exit(f"{where}, byte {byte}, position {position}: {what}")

def sha(*parts):
    return hashlib.sha256(b"".join(parts)).digest()

folder = pathlib.Path(sys.argv[1])
head = (folder / "HEAD").read_bytes()
if len(head) != 64 or sha(b"HEAD file", head[:56])[:8] != head[56:]:
    fail("HEAD", "unknown", 0, "the checksum is wrong")
log_id, (acknowledged,), newest = head[:16], struct.unpack(">Q", head[16:24]), head[24:56]
position, link, end, revisions = 0, sha(b"reckon event log 1\n", log_id), None, {}
segments = sorted((folder / "segments").glob("*.seg"))
for path in segments:
    data, last = path.read_bytes(), path == segments[-1]
    if len(data) < 72 or zlib.crc32(data[:68]) != int.from_bytes(data[68:72], "big"):
        fail(path.name, position + 1, 0, "the checksum of the header is wrong")
    scavenged = data[8:12] == struct.pack(">I", 3)
    if data[:28] != b"RKSEGMNT" + struct.pack(">I", 3 if scavenged else 2) + log_id or data[28:68] != struct.pack(">Q", position) + link or path.stem != f"{position:020d}":
        fail(path.name, position + 1, 0, "the segment does not continue the one before")
    seed, at = int.from_bytes(data[68:72], "big"), 72
    while at < len(data):
        if last and position == acknowledged and end is None:
            end = at  # what follows was acknowledged to nobody, and may be torn
        magic, length, durable, checksum = struct.unpack(">4sIQI", data[at:at + 20].ljust(20, b"\0"))
        record = data[at + 20:at + 20 + length]
        if magic != b"RKEV" or len(record) < length or zlib.crc32(record, zlib.crc32(data[at:at + 16], seed)) != checksum:
            if end is not None:
                break
            fail(path.name, position + 1, at, "the record is cut short, or its checksum is wrong")
        _, number, revision, _, _, _, s, t, m, d = struct.unpack(">BQQq16sBHIII", record[:56])
        payload_hash, header, rest = record[56:88], record[:88 + s + t], record[88 + s + t:]
        stream, expected = record[88:88 + s], revisions.get(record[88:88 + s], 0)
        if number != position + 1 or durable > position or revision not in (expected, 2**63 - 1):
            fail(path.name, position + 1, at, f"position {number} or revision {revision} does not follow")
        if rest[:32] != sha(link, header) or rest[32] and payload_hash != sha(rest[33:]) or len(rest) != (33 + 16 + m + d if rest[32] else 33) or not (rest[32] or scavenged):
            fail(path.name, position + 1, at, "the hash chain or the payload's hash is wrong")
        position, link, revisions[stream], at = number, rest[:32], revision + 1, at + 20 + length
        if position == acknowledged and link != newest:
            fail(path.name, position, at, "HEAD names another record")
if position < acknowledged:
    fail("HEAD", position + 1, 16, f"the log ends at {position}, acknowledged were {acknowledged}")
print(f"log {uuid.UUID(bytes=log_id)}: {position} records in {len(segments)} segments verify; link {link.hex()}")
