"""Verify a Reckon receipt offline: python verify_receipt.py receipt.json service-keys.json"""
import base64, hashlib, json, sys
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

def check(holds, words):  # no assert: python -O leaves those out
    if not holds: sys.exit("not verified: " + words)

receipt, key_set = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:3])
canonical = json.dumps(receipt["record"], sort_keys=True, separators=(",", ":"), ensure_ascii=True)
check(canonical == receipt["canonical_form"], "canonical_form is not this record's")
check(hashlib.sha256(canonical.encode("ascii")).hexdigest() == receipt["id"], "id is not the record's hash")
key = {key["kid"]: key["x"] for key in key_set["keys"]}[receipt["kid"]]
public = Ed25519PublicKey.from_public_bytes(base64.urlsafe_b64decode(key + "=="))
public.verify(base64.b64decode(receipt["signature"]), canonical.encode("ascii"))
print("verified", receipt["id"])
