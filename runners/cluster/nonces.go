package cluster

import (
	"crypto/rand"
	"encoding/hex"
	"sync"
	"time"
)

const (
	nonceBytes = 16
	nonceKept  = 10 * time.Minute // longer than anyone asks for one evaluation
)

func newNonce() string {
	var random [nonceBytes]byte
	_, _ = rand.Read(random[:]) // never fails (crypto/rand documents it)
	return hex.EncodeToString(random[:])
}

// nonces remembers the evaluations that were received, each for at least nonceKept: one that is asked for again, because
// the answer was lost, is not evaluated twice. Only peers can add to it.
type nonces struct {
	mu              sync.Mutex
	recent, earlier map[string]bool // earlier: added before begun
	begun           time.Time       // when recent was
}

// add returns false for a nonce that was added before.
func (n *nonces) add(nonce string, now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.recent == nil || now.Sub(n.begun) > nonceKept {
		n.recent, n.earlier, n.begun = map[string]bool{}, n.recent, now
	}
	if n.recent[nonce] || n.earlier[nonce] {
		return false
	}
	n.recent[nonce] = true
	return true
}
