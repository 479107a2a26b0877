package keys

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
)

// Thumbprint is the kid of an Ed25519 public key (RFC 7638 over the members of RFC 8037 §2).
func Thumbprint(public ed25519.PublicKey) string {
	sum := sha256.Sum256(fmt.Appendf(nil, `{"crv":"Ed25519","kty":"OKP","x":"%s"}`, EncodeX(public)))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// EncodeX is the JWK member x of a public key.
func EncodeX(public ed25519.PublicKey) string { return base64.RawURLEncoding.EncodeToString(public) }

// DecodeX reads the JWK member x.
func DecodeX(x string) (ed25519.PublicKey, error) {
	b, err := base64.RawURLEncoding.DecodeString(x)
	if err != nil || len(b) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("not an Ed25519 public key: %q", x)
	}
	return b, nil
}
