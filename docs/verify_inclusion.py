"""Verify offline that a receipt or a certificate is in a transparency log, or that one checkpoint continues another (transparency.md):
python verify_inclusion.py item.json inclusion.json service-keys.json transparency-log.json [WITNESS-KEY ...]
python verify_inclusion.py --grown older-checkpoint newer-checkpoint transparency-log.json ADDRESS-OF-TILES"""
import base64, hashlib, json, sys, urllib.request
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
sys.excepthook = lambda kind, error, _: print(f"not verified: {kind.__name__} {error}", file=sys.stderr)  # the exit status is 1
def check(holds, words): holds or sys.exit("not verified: " + words)  # no assert: python -O leaves those out
def read(path): return open(path, encoding="utf-8").read()
def sha(data): return hashlib.sha256(data).digest()
def node(left, right): return sha(b"\x01" + left + right)
def opened(note, log, witnesses=()):  # size and root of a checkpoint that the log and each of the witnesses have signed
    text, lines = note.rsplit("\n\n", 1)
    body, keys, signed = text.encode() + b"\n", [key["key"] for key in log["keys"]], set()
    for vkey in [*keys, *witnesses]:
        name, _, material = vkey.split("+", 2)
        kind, public = base64.b64decode(material)[:1], base64.b64decode(material)[1:]
        for signer, signature in (line.split(" ")[1:] for line in lines.strip().split("\n")):
            if signer == name and (signature := base64.b64decode(signature))[:4] == sha(name.encode() + b"\n" + kind + public)[:4]:
                time = b"cosignature/v1\ntime %d\n" % int.from_bytes(signature[4:12], "big") if kind == b"\4" else b""
                Ed25519PublicKey.from_public_bytes(public).verify(signature[12 if time else 4:], time + body)
                signed.add(vkey)
    check(signed & set(keys) and text.split("\n")[0] == log["origin"], "no key of your transparency-log.json has signed it. If the file is older than the checkpoint, fetch it again: it must still have the keys you kept")
    check(signed >= set(witnesses), "not all of the witnesses have cosigned it")
    return int(text.split("\n")[1]), base64.b64decode(text.split("\n")[2])
def root_of(leaves):  # RFC 6962, section 2.1
    half = 1 << (len(leaves) - 1).bit_length() - 1 if len(leaves) > 1 else 0
    return node(root_of(leaves[:half]), root_of(leaves[half:])) if half else leaves[0] if leaves else sha(b"")
def tile(index):  # its path by C2SP tlog-tiles
    digits = f"{index:012d}"
    return "".join(f"x{digits[i:i + 3]}/" for i in (0, 3, 6) if int(digits[:i + 3])) + digits[9:]

log = json.loads(read(sys.argv[4]))
if sys.argv[1] == "--grown":
    (old, old_root), (new, new_root) = sorted(opened(read(path), log) for path in sys.argv[2:4])
    tiles = [urllib.request.urlopen(f"{sys.argv[5]}/tile/0/{tile(i // 256)}" + (f".p/{new - i}" if new - i < 256 else "")).read() for i in range(0, new, 256)]
    leaves = [some[i:i + 32] for some in tiles for i in range(0, len(some), 32)]
    check(len(leaves) == new and root_of(leaves) in (old_root, new_root), "the tiles are not those of the larger checkpoint")
    check(root_of(leaves) == new_root and root_of(leaves[:old]) == old_root, "these are two histories: one tree does not begin with the other. Keep both checkpoints")
    sys.exit(print("verified: the tree of", new, "leaves continues that of", old))
item, inclusion, service = (json.loads(read(path)) for path in sys.argv[1:4])
if "canonical_form" in item:
    canonical = json.dumps(item["record"], sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    check(canonical == item["canonical_form"] and sha(canonical.encode()).hex() == item["id"], "the receipt is not its record's")
    key = base64.urlsafe_b64decode({key["kid"]: key["x"] for key in service["keys"]}[item["kid"]] + "==")
    Ed25519PublicKey.from_public_bytes(key).verify(base64.b64decode(item["signature"]), canonical.encode())
    leaf, proved = ["receipt", item["id"], item["kid"], item["signature"]], {"record": item["record"]}
else:
    found = {"reason": None, "declarations": [], "axioms_used": [], "refusal": None, "conformance": None, "own_definitions": None, "kernels": None, **json.loads(inclusion["findings"])}
    check(all(item[name] == found[name] for name in found), "the findings are not the certificate's")
    proved = {"certificate_id": item["certificate_id"], "verdict": item["verdict"], "sha256 of the export": item["export"]["sha256"], "checker's revision": item["checker"]["rev"], "created_at": item["created_at"]}
    leaf, proved = ["certificate", *proved.values(), sha(inclusion["findings"].encode()).hex()], {**proved, **found}
(head, note), witnesses, leaf = inclusion["tlog_proof"].split("\n\n", 1), {key or sys.exit("not verified: the key of a witness is empty") for key in sys.argv[5:]}, "\n".join(["reckon leaf v1", *leaf, ""])
(size, root), index, node_hash = opened(note, log, witnesses), int(head.split("\n")[2].removeprefix("index ")), sha(b"\0" + sha(leaf.encode()))
at, last = index, size - 1
for sibling in map(base64.b64decode, head.split("\n")[3:]):  # RFC 9162, section 2.1.3.2
    node_hash = node(sibling, node_hash) if at & 1 or at == last else node(node_hash, sibling)
    while at == last and at and not at & 1: at, last = at >> 1, last >> 1
    at, last = at >> 1, last >> 1
check(0 <= index < size and last == 0 and node_hash == root, "it is not in the tree")
print("verified: leaf", index, "of", size, f"in a tree cosigned by {len(witnesses)} witnesses. This is verified, and nothing else of the file:", json.dumps(proved, indent=1))
