package access

import (
	"net/netip"
	"sync"
	"time"
)

// Bounds of wrong passwords. A password that was verified is not asked of them again while
// it is in use, so that a flood of wrong ones keeps out nobody who is in; and an address that guesses
// one user's keeps out no other user of that address.
const (
	guessesOfOneByAddress = 20 // of one user by one address in guessWindow
	guessesByAddress      = 200
	guessesOfUser         = 200
	guessWindow           = 10 * time.Minute
	maxWindows            = 1 << 14 // of each kind; those beyond share one
)

// guesses counts wrong passwords in fixed windows.
type guesses struct {
	mu   sync.Mutex
	ends time.Time
	of   [3]map[string]int // as keysOf has them
}

// mostGuesses are the bounds of what guesses counts.
var mostGuesses = [3]int{guessesOfOneByAddress, guessesByAddress, guessesOfUser}

// keysOf are what a guess is counted by: user and address, the address, the user.
func keysOf(from, user string) [3]string {
	address := network(from)
	return [3]string{address + " " + user, address, user}
}

func newGuesses() *guesses { return &guesses{} }

// take counts a guess, and reports whether there was one left.
func (g *guesses) take(now time.Time, from, user string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.of[0] == nil || !now.Before(g.ends) || g.ends.Sub(now) > guessWindow { // the last: the clock went back
		g.ends, g.of = now.Add(guessWindow), [3]map[string]int{{}, {}, {}}
	}
	keys := keysOf(from, user)
	for i, key := range keys {
		keys[i] = windowOf(g.of[i], key)
		if g.of[i][keys[i]] >= mostGuesses[i] {
			return false
		}
	}
	for i, key := range keys {
		g.of[i][key]++
	}
	return true
}

// giveBack takes a guess back that was none.
func (g *guesses) giveBack(from, user string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, key := range keysOf(from, user) {
		if key = windowOf(g.of[i], key); g.of[i][key] > 0 {
			g.of[i][key]--
		}
	}
}

// windowOf returns the key under which something is counted: its own, or the shared one when there are too many.
func windowOf(counts map[string]int, key string) string {
	if _, counted := counts[key]; counted || len(counts) < maxWindows {
		return key
	}
	return ""
}

// network returns what an address is counted by: an IPv4 address, or an IPv6 /64, which one client has whole.
func network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	ip = ip.Unmap().WithZone("")
	if ip.Is4() {
		return ip.String()
	}
	prefix, _ := ip.Prefix(64) // every IPv6 address has one
	return prefix.String()
}
