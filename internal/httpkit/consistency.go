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

// ConsistencyToken is a position of one log that a read model must have reached before it answers a list.
type ConsistencyToken struct {
	Log      string // id of the log
	Position event.Position
}

const (
	tokenVersion    = 1
	tokenFixedBytes = 1 + 8 + 8
	maxLogIDBytes   = 64
)

// String returns the token as clients send it: base64url of version, position and log id.
func (t ConsistencyToken) String() string {
	b := make([]byte, 0, tokenFixedBytes+len(t.Log))
	b = append(b, tokenVersion)
	b = binary.BigEndian.AppendUint64(b, t.Position.Commit)
	b = binary.BigEndian.AppendUint64(b, t.Position.Prepare)
	b = append(b, t.Log...)
	return base64.RawURLEncoding.EncodeToString(b)
}

// ParseConsistencyToken parses the result of String. The error is a *Problem of kind InvalidParameter.
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

// SetToken sets the Consistency-Token header of the answer to a write.
func SetToken(header http.Header, t ConsistencyToken) { header.Set(TokenHeader, t.String()) }

// AccountWrites holds the position of each account's last write through this process. It
// holds at most 2×writesGeneration accounts and drops those that wrote longest ago; a list
// of theirs then waits only for the position of the client's own Consistency-Token.
type AccountWrites struct {
	mu       sync.Mutex
	young    map[string]event.Position
	old      map[string]event.Position
	capacity int
}

const writesGeneration = 20_000

// NewAccountWrites returns an AccountWrites without accounts.
func NewAccountWrites() *AccountWrites {
	return &AccountWrites{young: map[string]event.Position{}, old: map[string]event.Position{}, capacity: writesGeneration}
}

// RecordWrite records the position of an account's write. An earlier position changes nothing.
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

// LastWrite returns the position of the account's last write, the zero position when none is known.
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
