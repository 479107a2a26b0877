package identity

import (
	"regexp"
	"strings"
)

// emailPattern is the WHATWG definition of a valid e-mail address, which
// browsers use for <input type=email>: what a person can be mailed at, without
// the comments and quotes of RFC 5322.
var emailPattern = regexp.MustCompile(`^[a-zA-Z0-9.!#$%&'*+/=?^_{|}~` + "`" + `-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$`)

const (
	maxEmailBytes = 254 // RFC 5321 §4.5.3.1.3, less the angle brackets
	maxLocalBytes = 64  // RFC 5321 §4.5.3.1.1
)

// emailKey returns the unique form of an address, in lower case; false for an invalid address.
func emailKey(email string) (string, bool) {
	local, _, _ := strings.Cut(email, "@")
	if len(email) > maxEmailBytes || len(local) > maxLocalBytes || !emailPattern.MatchString(email) {
		return "", false
	}
	if strings.HasPrefix(local, ".") || strings.HasSuffix(local, ".") || strings.Contains(local, "..") {
		return "", false
	}
	return strings.ToLower(email), true
}
