"""Verify files of Reckon without trusting the service, offline. Needs Python 3.11 and the package cryptography.

  python verify.py FILE --keys service-keys.json                        a receipt, or a quote of /billing/plans
  python verify.py FILE --keys … --log transparency-log.json --inclusion FILE [--witness KEY]…   and that it is in the log
  python verify.py CERTIFICATE --log … --inclusion FILE [--witness KEY]…
  python verify.py CHECKPOINT --log … [--witness KEY]…
  python verify.py NEWER --grown OLDER --log … --tiles ADDRESS-OR-FOLDER  that the one checkpoint continues the other

Prints what is verified, member by member, and what of the file is not. Exit status 0: verified; 1: not; 2: it could not be tried.
The formats are those of docs/transparency.md. `reckon verify` does the same, written a second time; both are tested with one table of forgeries.
"""
import argparse, base64, hashlib, http.client, json, re, sys, urllib.request
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

MAX_BYTES, MAX_DEPTH, MAX_SIGNATURES, MAX_LEAVES = 8 << 20, 64, 100, 1 << 24
NATURAL = re.compile(r"0|[1-9][0-9]{0,15}")
INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,15})")


class Refused(Exception):
    """The file does not verify; the text says why."""


def check(holds, why):
    if not holds:
        raise Refused(why)


def try_only_if(holds, why):
    if not holds:
        print(why, file=sys.stderr)
        sys.exit(2)


# JSON, read so that no two readers can disagree on it.

def read_json(raw, what):
    check(len(raw) <= MAX_BYTES, f"{what} is longer than {MAX_BYTES} bytes")
    try:
        text = raw.decode("utf-8")
        check(depth_of(text) <= MAX_DEPTH, f"{what} is nested deeper than {MAX_DEPTH}")
        value = json.loads(text, object_pairs_hook=unique, parse_int=integer, parse_float=integer, parse_constant=integer)
        json.dumps(value, ensure_ascii=False).encode("utf-8")  # fails for a lone surrogate
    except (ValueError, RecursionError):
        raise Refused(f"{what} is not JSON of unique names, integers below 2^53 and Unicode") from None
    check(isinstance(value, dict), f"{what} is not a JSON object")
    return value


def flag_of(document):
    """The flag that takes a document, as its members tell; "file" for one that is named without a flag, None for an unknown one."""
    for member, flag in {"tlog_proof": "inclusion", "record": "file", "certificate_id": "file", "origin": "log"}.items():
        if member in document:
            return flag
    entries = document.get("keys")
    return "keys" if isinstance(entries, list) and not any(isinstance(entry, dict) and "key" in entry for entry in entries) else None


def read_json_of(flag, raw, what):
    """The object of a flag's file. A file that another flag takes is no evidence against anything."""
    document = read_json(raw, what)
    other = flag_of(document)
    try_only_if(other != "file", f"the file of --{flag} is a receipt or certificate: name it without a flag")
    try_only_if(other in (flag, None), f"the file of --{flag} is what --{other} takes: give it as --{other}")
    return document


def unique(pairs):
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a name stands twice")
    return members


def integer(literal):
    if not INTEGER.fullmatch(literal) or abs(int(literal)) >= 1 << 53:
        raise ValueError("not an integer")
    return int(literal)


def depth_of(text):
    depth = deepest = 0
    for found in re.finditer(r'(?s)"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[\[\]{}]', text):
        mark = found[0][0]
        depth += (mark in "[{") - (mark in "]}")
        deepest = max(deepest, depth)
    return deepest


def text_member(members, name, what):
    value = members.get(name)
    check(isinstance(value, str), f"{what} has no text {name}")
    return value


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def decode64(text, length=None, url=False):
    """The bytes of base64 (RFC 4648: section 4, or 5 without padding) in its only spelling, None for another."""
    try:
        raw = (base64.urlsafe_b64decode if url else base64.b64decode)(text + ("=" * (-len(text) % 4) if url else ""))
    except ValueError:
        return None
    spelled = (base64.urlsafe_b64encode(raw).rstrip(b"=") if url else base64.b64encode(raw)).decode()
    return raw if spelled == text and length in (None, len(raw)) else None


def signed_by(public, signature, message):
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


# The y coordinates of the points whose order divides 8, but for 0 and 1 (RFC 7748, section 6; RFC 8032, section 5.1): by such a key everyone can sign.
P = 2**255 - 19
SMALL_ORDER = [P - 1, *(int.from_bytes(bytes.fromhex(y), "little") for y in (
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a", "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"))]


def is_key(public):
    """Whether 32 bytes are a public key of Ed25519 in its only spelling, by which not everyone can sign."""
    y = int.from_bytes(public, "little") & (1 << 255) - 1
    return 1 < y < P and y not in SMALL_ORDER


# Receipts.

def read_keys(raw):
    """Public keys by kid, from /.well-known/service-keys.json (RFC 7517, RFC 8037)."""
    entries, keys = read_json_of("keys", raw, "the key set").get("keys"), {}
    check(isinstance(entries, list), "the key set has no list of keys")
    for entry in entries:
        check(isinstance(entry, dict) and entry.get("kty") == "OKP" and entry.get("crv") == "Ed25519", "a key of the key set is not of Ed25519")
        kid, x = text_member(entry, "kid", "a key of the key set"), text_member(entry, "x", "a key of the key set")
        public = decode64(x, 32, url=True)
        thumbprint = hashlib.sha256(canonical({"crv": "Ed25519", "kty": "OKP", "x": x}).encode()).digest()  # RFC 7638
        check(public is not None and decode64(kid, url=True) == thumbprint, "a key of the key set is not what its kid says")
        check(is_key(public), "a key of the key set is one by which everyone can sign")
        check(kid not in keys, "a key stands twice in the key set")
        keys[kid] = public
    return keys


ENVELOPE = {"record", "id", "canonical_form", "signature", "kid"}


def verify_receipt(receipt, keys):
    record = receipt.get("record")
    check(isinstance(record, dict), "the receipt has no record")
    form = text_member(receipt, "canonical_form", "the receipt")
    check(canonical(record) == form, "the record is not what was signed: it, or canonical_form, was changed, and they differ")
    check(hashlib.sha256(form.encode()).hexdigest() == receipt.get("id"), "id is not the SHA-256 of the canonical form")
    check(receipt.get("signature") is not None, "the receipt is not signed")
    kid, signature = text_member(receipt, "kid", "the receipt"), decode64(text_member(receipt, "signature", "the receipt"), 64)
    check(kid in keys, "the key set has no key with the receipt's kid. If the file is older than the receipt, fetch it again: it must still have the keys you kept")
    check(signature is not None and signed_by(keys[kid], signature, form.encode()), "the signature of the receipt does not verify")
    return {"id": receipt["id"], "kid": kid, **{"record." + name: value for name, value in record.items()}}


# Checkpoints: signed notes (C2SP signed-note, tlog-checkpoint, tlog-cosignature).

LOG_KEY, WITNESS_KEY = 1, 4


def read_verifier_key(text, kind):
    """Name, id and public key of a verifier key, such as example.org/log+530d903a+Aeky…"""
    found = re.fullmatch(r"([^\s+\x00-\x1f\x7f\ud800-\udfff]{1,128})\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)", text)
    material = found and decode64(found[3], 33)
    what = "a key of the log" if kind == LOG_KEY else "the key of a witness"
    check(material and material[0] == kind and key_id(found[1], material).hex() == found[2], f"{what} is not a verifier key of type {kind}")
    check(is_key(material[1:]), f"{what} is one by which everyone can sign")
    return found[1], key_id(found[1], material), material[1:]


def key_id(name, material):
    return hashlib.sha256(name.encode() + b"\n" + material).digest()[:4]


class Log:
    """Whom a reader believes: the log's keys, and witnesses of their own choice."""

    def __init__(self, raw, witnesses):
        document = read_json_of("log", raw, "the log's file")
        try_only_if("" not in witnesses, "--witness is empty: leave it out where you have no key of a witness")
        self.origin, entries = text_member(document, "origin", "the log's file"), document.get("keys")
        check(isinstance(entries, list) and all(isinstance(entry, dict) for entry in entries), "the log's file has no list of keys")
        self.keys = [read_verifier_key(text_member(entry, "key", "the log's file"), LOG_KEY) for entry in entries]
        check(all(name == self.origin for name, _, _ in self.keys), "a key of the log has another name than the log")
        self.witnesses = [read_verifier_key(text, WITNESS_KEY) for text in witnesses]
        publics = [public for _, _, public in self.witnesses]
        check(len(set(publics)) == len(publics), "two of the witnesses are one")
        check(not set(publics) & {public for _, _, public in self.keys}, "a key of the log is no witness")

    def opened(self, note):
        """Size, root and chain of a checkpoint that the log and every witness have signed."""
        body, _, signatures = note.rpartition("\n\n")
        lines = signatures.split("\n")
        check(body and lines[-1:] == [""] and 1 < len(lines) <= MAX_SIGNATURES + 1, "it is not a signed note")
        body, by_log, by_witness = body + "\n", False, set()
        for line in lines[:-1]:
            found = re.fullmatch(r"— ([^\s+]+) ([A-Za-z0-9+/=]+)", line)
            made = found and decode64(found[2])
            check(made is not None and len(made) > 4, "a signature of the checkpoint is not one of a note")
            for name, number, public in self.keys:
                if (name, number) == (found[1], made[:4]):
                    check(signed_by(public, made[4:], body.encode()), "the log's signature of the checkpoint does not verify")
                    by_log = True
            for name, number, public in self.witnesses:
                if (name, number) == (found[1], made[:4]):
                    message = b"cosignature/v1\ntime %d\n" % int.from_bytes(made[4:12], "big") + body.encode()
                    check(len(made) == 76 and signed_by(public, made[12:], message), "the cosignature of a witness does not verify")
                    by_witness.add(public)
        check(by_log, "no key of the log has signed the checkpoint. If the log's file is older, fetch it again: it must still have the keys you kept")
        check(len(by_witness) == len(self.witnesses), "not all of the witnesses have cosigned the checkpoint")
        origin, *rest = body[:-1].split("\n")
        check(origin == self.origin, "the checkpoint is of another log")
        check(len(rest) >= 2 and all(rest) and NATURAL.fullmatch(rest[0]) and decode64(rest[1], 32) is not None, "the checkpoint has no size and root")
        chains = [CHAIN.fullmatch(line) for line in rest[2:] if line.startswith("chain ")]
        check(len(chains) < 2 and None not in chains, "the checkpoint has no one line of the event log's chain")
        return int(rest[0]), decode64(rest[1], 32), (chains[0][1], int(chains[0][2]), chains[0][3]) if chains else None


CHAIN = re.compile(r"chain ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}) ([1-9][0-9]{0,15}) ([0-9a-f]{64})")


def described(log, size, root, chain):
    """What is verified of a checkpoint. The chain is the event log at its last leaf: verify_log.py, `reckon audit` and `reckon node verify` compare it."""
    members = {"origin": log.origin, "size": size, "root": base64.b64encode(root).decode(), "witnesses": len(log.witnesses)}
    return members | (dict(zip(("chain.log", "chain.position", "chain.link"), chain)) if chain else {})


# The tree (RFC 6962, RFC 9162).

def sha(data):
    return hashlib.sha256(data).digest()


def node(left, right):
    return sha(b"\x01" + left + right)


def root_of(hashes):
    if len(hashes) < 2:
        return hashes[0] if hashes else sha(b"")
    half = 1 << (len(hashes) - 1).bit_length() - 1
    return node(root_of(hashes[:half]), root_of(hashes[half:]))


def verify_inclusion(leaf, inclusion, log):
    """That a leaf's text is in the tree of the checkpoint that a proof (C2SP tlog-proof) carries."""
    proof = text_member(inclusion, "tlog_proof", "the inclusion")
    head, _, note = proof.partition("\n\n")
    lines = head.split("\n")
    check(lines[0] == "c2sp.org/tlog-proof@v1" and len(lines) >= 3 and lines[1] == "extra " + base64.b64encode(leaf.encode()).decode(),
          "the proof is of another leaf")
    index = lines[2].removeprefix("index ")
    check(lines[2] == "index " + index and NATURAL.fullmatch(index), "the proof has no index")
    path = [decode64(line, 32) for line in lines[3:]]
    check(None not in path and len(path) <= 64, "a hash of the proof is not one")
    size, root, chain = log.opened(note)
    check(inclusion.get("leaf") == leaf and canonical(inclusion.get("index")) == index and canonical(inclusion.get("tree_size")) == str(size), "leaf, index or tree_size is not that of the proof")
    at, last, reached = int(index), size - 1, sha(b"\0" + sha(leaf.encode()))
    check(at <= last, "it is not in the tree")
    for sibling in path:  # RFC 9162, section 2.1.3.2
        check(last > 0, "it is not in the tree")
        if at & 1 or at == last:
            reached = node(sibling, reached)
            while at and not at & 1:
                at, last = at >> 1, last >> 1
        else:
            reached = node(reached, sibling)
        at, last = at >> 1, last >> 1
    check(last == 0 and reached == root, "it is not in the tree")
    return {"leaf": int(index)} | described(log, size, root, chain)


FINDINGS = {"reason": None, "declarations": [], "axioms_used": [], "refusal": None, "conformance": None, "own_definitions": None, "kernels": None}


def certificate_leaf(certificate, inclusion):
    """The text that the tree commits to for a certificate, and the members that it covers."""
    findings = text_member(inclusion, "findings", "the inclusion")
    said = read_json(findings.encode("utf-8", "surrogatepass"), "findings")
    judged = {"": said.pop("judged")} if "judged" in said else {}  # in findings of version 4 of the event on
    found = FINDINGS | said
    check(set(found) == set(FINDINGS), "findings has a member that no certificate has")
    check(all(name in certificate and canonical(certificate[name]) == canonical(found[name]) for name in FINDINGS), "the findings are not the certificate's")
    export, checker = certificate.get("export"), certificate.get("checker")
    check(isinstance(export, dict) and isinstance(checker, dict), "the certificate has no export or no checker")
    if judged:
        judged |= {f"{name}.": judged[""].pop(name) for name in ("export", "checker") if isinstance(judged[""], dict) and name in judged[""]}
    for prefix, members in judged.items():
        of = {"": certificate, "export.": export, "checker.": checker}[prefix]
        check(isinstance(members, dict) and all("." not in name and name in of and canonical(of[name]) == canonical(value) for name, value in members.items()), "the findings are not the certificate's")
        found |= {prefix + name: value for name, value in members.items()}
    covered = {"certificate_id": text_member(certificate, "certificate_id", "the certificate"), "verdict": text_member(certificate, "verdict", "the certificate"),
               "export.sha256": text_member(export, "sha256", "the certificate"), "checker.rev": text_member(checker, "rev", "the certificate"),
               "created_at": text_member(certificate, "created_at", "the certificate")}
    check(not any("\n" in value for value in covered.values()), "a member of the certificate has a line feed")
    return "\n".join(["reckon leaf v1", "certificate", *covered.values(), sha(findings.encode()).hex(), ""]), covered | found


def verify_grown(older, newer, log, tiles):
    (old_size, old_root, old_chain), (new_size, new_root, new_chain) = log.opened(older), log.opened(newer)
    check(old_size <= new_size, "the older checkpoint is the larger one: give them in the other order")
    check(new_size <= MAX_LEAVES, f"the tree has more than {MAX_LEAVES} leaves")
    hashes = []
    for first in range(0, new_size, 256):
        digits, width = f"{first // 256:012d}", min(256, new_size - first)
        groups = [digits[at:at + 3] for at in range(0, 12, 3)]
        while len(groups) > 1 and groups[0] == "000":
            groups.pop(0)
        path = "/tile/0/" + "/".join([*("x" + group for group in groups[:-1]), groups[-1]]) + (f".p/{width}" if width < 256 else "")
        raw = read_file(tiles + path)
        check(len(raw) == 32 * width, "a tile is not as long as its tree says")
        hashes += [raw[at:at + 32] for at in range(0, len(raw), 32)]
    check(root_of(hashes) == new_root, "the tiles are not those of the newer checkpoint")
    check(root_of(hashes[:old_size]) == old_root, "these are two histories: the one tree does not begin with the other. Keep both checkpoints")
    if old_chain and new_chain and old_chain[0] == new_chain[0]:
        check(new_chain[1] > old_chain[1] if new_size > old_size else new_chain == old_chain,
              "these are two histories: the event log of the one does not begin with that of the other. Keep both checkpoints")
    return {"origin": log.origin, "older.size": old_size, "older.root": base64.b64encode(old_root).decode(), "newer.size": new_size,
            "newer.root": base64.b64encode(new_root).decode(), "witnesses": len(log.witnesses)}


# The command.

def not_covered(document, covered):
    """Names of the members that nothing vouches for; members of a covered object are covered."""
    names = []
    for name in document:
        inner = [f"{name}.{each}" for each in document[name]] if isinstance(document[name], dict) and name in ("export", "checker") else []
        if inner:
            names += [each for each in inner if each not in covered]
        elif name not in covered or "." in name:
            names.append(name)
    return sorted(names)


def has_lines(raw):
    """Whether a file is several objects, one a line, as exports are."""
    first, _, rest = raw.lstrip(b" \t\r\n").partition(b"\n")
    try:
        read_json(first, "a line")
    except Refused:
        return False
    return rest.startswith(b"{")


WHERE_FROM = {
    "keys": "the service's keys, its /.well-known/service-keys.json or a copy that you kept",
    "log": "the log's keys, its /.well-known/transparency-log.json or a copy that you kept",
    "inclusion": "the proof that it is in the log: the answer of /inclusion below its address",
    "tiles": "the log's tiles: the address that ends with /transparency",
}


def verify(options):
    """Kind of the file, what is verified of it, and the names of what is not."""
    raw = read_file(options.file)

    def need(name):
        try_only_if(getattr(options, name), f"say --{name}, a file or an address: this file cannot be verified without {WHERE_FROM[name]}")
        return getattr(options, name)

    def inclusion_of():
        return read_json_of("inclusion", read_file(need("inclusion")), "the inclusion")

    def log():
        return Log(read_file(need("log")), options.witness)

    if options.grown:
        return "growth", verify_grown(note_of(read_file(options.grown)), note_of(raw), log(), need("tiles").rstrip("/")), []
    if not raw.lstrip(b" \t\r\n").startswith(b"{"):
        note = note_of(raw)
        check("\n\n" in note and (options.log or "\n\n— " in note), "it is not a signed note, as a checkpoint is, nor the JSON of a receipt or certificate")
        believed = log()
        return "checkpoint", described(believed, *believed.opened(note)), []
    try:
        document = read_json(raw, "the file")
    except Refused:
        check(not has_lines(raw), "it is an export, which no key has signed: `reckon audit --export FILE` reads one of a log, `reckon lean check FILE --all` one of proofs")
        raise
    if "certificate_id" in document:
        inclusion = inclusion_of()
        leaf, covered = certificate_leaf(document, inclusion)
        verified = verify_inclusion(leaf, inclusion, log())
        return "certificate", covered | {"log." + name: value for name, value in verified.items()}, not_covered(document, covered)
    flag = flag_of(document)
    check("record" in document or not flag, f"it is what --{flag} takes: name the receipt, certificate or checkpoint before it")
    check("record" in document, "it is no receipt, certificate or checkpoint")
    keys = read_keys(read_file(need("keys")))
    verified, rest = verify_receipt(document, keys), not_covered(document, ENVELOPE)
    kind = "receipt" if "run_id" in document["record"] else "quote" if "expires_at" in document["record"] else "record"
    if options.inclusion or options.log or options.witness:
        leaf = "\n".join(["reckon leaf v1", "receipt", document["id"], document["kid"], document["signature"], ""])
        inclusion, believed = inclusion_of(), log()
        check(not set(keys.values()) & {public for _, _, public in believed.witnesses}, "a key of the service is no witness")
        included = verify_inclusion(leaf, inclusion, believed)
        verified |= {"log." + name: value for name, value in included.items()}
    return kind, verified, rest


def read_file(path):
    try:
        if re.match("https?://", path):
            with urllib.request.urlopen(path, timeout=30) as answer:
                content, length = answer.read(MAX_BYTES + 1), answer.headers.get("Content-Length")
                if answer.status != 200 or length and len(content) != min(int(length), MAX_BYTES + 1):
                    raise ValueError(f"status {answer.status}, {len(content)} bytes of {length}")
                return content
        with open(path, "rb") as file:
            return file.read(MAX_BYTES + 1)
    except (OSError, ValueError, http.client.HTTPException) as error:
        print(f"cannot read {path!a}: {str(error)!a}", file=sys.stderr)
        sys.exit(2)


def note_of(raw):
    check(len(raw) <= MAX_BYTES, "it is not a signed note")
    try:
        return raw.decode("utf-8")
    except ValueError:
        raise Refused("it is not a signed note") from None


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    parser.add_argument("file")
    for name in ("keys", "log", "inclusion", "grown", "tiles"):
        parser.add_argument("--" + name)
    parser.add_argument("--witness", action="append", default=[])
    try:
        kind, verified, rest = verify(parser.parse_args(arguments))
    except Refused as why:
        print("not verified:", why)
        return 1
    print("verified:", kind)
    for name in sorted(verified):
        print(f"  {canonical(name)[1:-1]}: {canonical(verified[name])}")
    if rest:
        print("not covered by any signature:", canonical(rest))
    return 0


if __name__ == "__main__":
    sys.exit(main())
