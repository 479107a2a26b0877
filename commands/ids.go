package commands

import "github.com/google/uuid"

// newID is a random UUID (RFC 9562 §5.4).
func newID() uuid.UUID { return uuid.New() }

// canonicalUUID tells whether a text is a UUID in its one spelling, as streams are named.
func canonicalUUID(s string) bool {
	parsed, err := uuid.Parse(s)
	return err == nil && parsed.String() == s
}
