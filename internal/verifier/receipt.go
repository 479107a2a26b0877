package verifier

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
)

// Keys are public keys by kid.
type Keys map[string]ed25519.PublicKey

func (k Keys) has(other verifierKey) bool {
	for _, key := range k {
		if key.Equal(other.public) {
			return true
		}
	}
	return false
}

// readKeys reads /.well-known/service-keys.json (RFC 7517, RFC 8037).
func readKeys(document object) (Keys, error) {
	entries, ok := document["keys"].([]any)
	if !ok {
		return nil, refuse("the key set has no list of keys")
	}
	keys := Keys{}
	for _, entry := range entries {
		members, ok := entry.(object)
		if !ok || members["kty"] != "OKP" || members["crv"] != "Ed25519" {
			return nil, refuse("a key of the key set is not of Ed25519")
		}
		kid, err := text(members, "kid", "a key of the key set")
		if err != nil {
			return nil, err
		}
		x, err := text(members, "x", "a key of the key set")
		if err != nil {
			return nil, err
		}
		public, valid := decode64(base64.RawURLEncoding, x, ed25519.PublicKeySize)
		thumbprint := sha256.Sum256([]byte(canonical(object{"crv": "Ed25519", "kty": "OKP", "x": x}))) // RFC 7638
		if !valid || kid != base64.RawURLEncoding.EncodeToString(thumbprint[:]) {
			return nil, refuse("a key of the key set is not what its kid says")
		}
		if !isKey(public) {
			return nil, refuse("a key of the key set is one by which everyone can sign")
		}
		if keys[kid] != nil {
			return nil, refuse("a key stands twice in the key set")
		}
		keys[kid] = public
	}
	return keys, nil
}

// sealed is a receipt, or a quote, whose seal verifies.
type sealed struct{ id, kid, signature string }

// covered are the members of a receipt that its seal covers, or that are the seal.
var covered = map[string]bool{"record": true, "id": true, "canonical_form": true, "signature": true, "kid": true}

func verifyReceipt(document object, keys Keys, report *Report) (s sealed, err error) {
	record, ok := document["record"].(object)
	if !ok {
		return s, refuse("the receipt has no record")
	}
	form, err := text(document, "canonical_form", "the receipt")
	if err != nil {
		return s, err
	}
	if canonical(record) != form {
		return s, refuse("the record is not what was signed: it, or canonical_form, was changed, and they differ")
	}
	sum := sha256.Sum256([]byte(form))
	if s.id = hex.EncodeToString(sum[:]); document["id"] != s.id {
		return s, refuse("id is not the SHA-256 of the canonical form")
	}
	if document["signature"] == nil {
		return s, refuse("the receipt is not signed")
	}
	if s.kid, err = text(document, "kid", "the receipt"); err != nil {
		return s, err
	}
	if s.signature, err = text(document, "signature", "the receipt"); err != nil {
		return s, err
	}
	key, known := keys[s.kid]
	if !known {
		return s, refuse("the key set has no key with the receipt's kid. If the file is older than the receipt, fetch it again: it must still have the keys you kept")
	}
	if signature, valid := decode64(base64.StdEncoding, s.signature, ed25519.SignatureSize); !valid || !ed25519.Verify(key, []byte(form), signature) {
		return s, refuse("the signature of the receipt does not verify")
	}
	report.Kind = kindOf(record)
	report.add("id", s.id)
	report.add("kid", s.kid)
	for name, value := range record {
		report.add("record."+name, value)
	}
	report.leaveOut(document, covered)
	return s, nil
}

// kindOf tells the receipt of a run from what else a service seals.
func kindOf(record object) string {
	if _, there := record["run_id"]; there {
		return "receipt"
	}
	if _, there := record["expires_at"]; there {
		return "quote"
	}
	return "record"
}
