package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"hash/crc32"
	"strings"
)

// Form is the form of a secret: a prefix, secretDigits random base62 digits and a CRC-32 in
// checksumDigits base62 digits: a mistyped one, or one found in a public repository, is told
// apart without asking anyone.
type Form string

// The forms, by their prefixes.
const (
	APIToken          Form = "rk_pat_"
	AccessTokenForm   Form = "rk_oat_"
	RefreshTokenForm  Form = "rk_ort_"
	AuthorizationCode Form = "rk_oac_"
)

const (
	secretDigits   = 30 // 178 bits
	checksumDigits = 6
	digits         = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// Mint draws a new secret.
func (f Form) Mint() string {
	secret := string(f) + randomDigits(secretDigits)
	return secret + checksumDigitsOf(secret)
}

// WellFormed reports whether a text has the form and its checksum. Whether the secret exists and
// is valid is decided elsewhere: for API tokens by their streams.
func (f Form) WellFormed(secret string) bool {
	if len(secret) != len(f)+secretDigits+checksumDigits || !strings.HasPrefix(secret, string(f)) {
		return false
	}
	for _, c := range []byte(secret[len(f):]) {
		if strings.IndexByte(digits, c) < 0 {
			return false
		}
	}
	body := len(secret) - checksumDigits
	return checksumDigitsOf(secret[:body]) == secret[body:]
}

// MintToken draws a new API token.
func MintToken() string { return APIToken.Mint() }

// WellFormed reports whether a text has the form and checksum of an API token.
func WellFormed(token string) bool { return APIToken.WellFormed(token) }

// TokenID returns the id under which the log knows a token: its SHA-256 in lower-case hex.
func TokenID(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// SignInIDDigits is how many hexadecimal digits the id of a browser session has: the first of its secret's hash.
const SignInIDDigits = 32

// SignInID is the id of a browser session by its secret: it names the session and does not open it.
func SignInID(secret string) string { return TokenID(secret)[:SignInIDDigits] }

// Last4 returns the last four characters of a token, by which its owner tells it from others.
func Last4(token string) string { return token[len(token)-4:] }

func checksumDigitsOf(s string) string {
	sum := crc32.ChecksumIEEE([]byte(s))
	var out [checksumDigits]byte // 62^6 > 2^32
	for i := checksumDigits - 1; i >= 0; i-- {
		out[i] = digits[sum%uint32(len(digits))]
		sum /= uint32(len(digits))
	}
	return string(out[:])
}

// randomDigits draws n base62 digits without bias.
func randomDigits(n int) string {
	const fair = 256 - 256%len(digits)
	out := make([]byte, 0, n)
	var pool [64]byte
	for {
		_, _ = rand.Read(pool[:]) // it never fails: crypto/rand ends the process instead
		for _, b := range pool {
			if int(b) < fair {
				out = append(out, digits[int(b)%len(digits)])
			}
			if len(out) == n {
				return string(out)
			}
		}
	}
}
