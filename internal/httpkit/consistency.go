package httpkit

import (
	"encoding/base64"
	"encoding/binary"
	"net/http"
	"sync"

	"reckon/domain/event"
)

// Headers of reading one's own writes (docs/architecture.md#reading-ones-own-writes).
const (
	TokenHeader       = "Consistency-Token"
	ConsistencyHeader = "Consistency"
	Stale             = "stale" // the only value of ConsistencyHeader
)

// ConsistencyToken is a place in one log that a later list must have reached.
type ConsistencyToken struct {
	Log      string // id of the log
	Position event.Position
}

const (
	tokenVersion    = 1
	tokenFixedBytes = 1 + 8 + 8
	maxLogIDBytes   = 64
)

// String is the opaque form: base64url of version, position and log id.
func (t ConsistencyToken) String() string {
	b := make([]byte, 0, tokenFixedBytes+len(t.Log))
	b = append(b, tokenVersion)
	b = binary.BigEndian.AppendUint64(b, t.Position.Commit)
	b = binary.BigEndian.AppendUint64(b, t.Position.Prepare)
	b = append(b, t.Log...)
	return base64.RawURLEncoding.EncodeToString(b)
}

// ParseConsistencyToken reads what String wrote; anything else is a Problem.
func ParseConsistencyToken(s string) (ConsistencyToken, error) {
	malformed := InvalidParameter.Problem("the Consistency-Token is not one of ours; send it as a write answered it, or not at all").
		WithField("header."+TokenHeader, "malformed")
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(b) < tokenFixedBytes || len(b) > tokenFixedBytes+maxLogIDBytes || b[0] != tokenVersion {
		return ConsistencyToken{}, malformed
	}
	token := ConsistencyToken{
		Log:      string(b[tokenFixedBytes:]),
		Position: event.Position{Commit: binary.BigEndian.Uint64(b[1:]), Prepare: binary.BigEndian.Uint64(b[9:])},
	}
	if token.String() != s { // base64 skips line breaks and spare bits
		return ConsistencyToken{}, malformed
	}
	return token, nil
}

// SetToken writes the token of a write into its answer.
func SetToken(header http.Header, t ConsistencyToken) { header.Set(TokenHeader, t.String()) }

// AccountWrites remembers where each account's last write through this process stands.
// It is bounded: of more than 2×writesGeneration accounts the idle are forgotten,
// and then only the client's own token says what to wait for.
type AccountWrites struct {
	mu       sync.Mutex
	young    map[string]event.Position
	old      map[string]event.Position
	capacity int
}

const writesGeneration = 20_000

// NewAccountWrites returns an empty memory.
func NewAccountWrites() *AccountWrites {
	return &AccountWrites{young: map[string]event.Position{}, old: map[string]event.Position{}, capacity: writesGeneration}
}

// RecordWrite records a write.
func (w *AccountWrites) RecordWrite(account string, at event.Position) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if last := w.lastWrite(account); at.Less(last) {
		return
	}
	if len(w.young) >= w.capacity {
		w.young, w.old = make(map[string]event.Position, w.capacity), w.young
	}
	w.young[account] = at
}

// LastWrite is the account's last write, the zero position when none is known.
func (w *AccountWrites) LastWrite(account string) event.Position {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lastWrite(account)
}

func (w *AccountWrites) lastWrite(account string) event.Position {
	if at, known := w.young[account]; known {
		return at
	}
	return w.old[account]
}
