package commands

import "github.com/google/uuid"

// newID is a random UUID (RFC 9562 §5.4).
func newID() uuid.UUID { return uuid.New() }
