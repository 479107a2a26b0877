package access

import (
	"net/netip"
	"sync"
	"time"
)

// Bounds of wrong passwords. A password that was verified is not asked of them again while
// it is in use, so that a flood of wrong ones keeps out nobody who is in.
const (
	guessesOfAddress = 20 // in guessWindow
	guessesOfUser    = 200
	guessWindow      = 10 * time.Minute
	maxWindows       = 1 << 14 // of addresses, and of users; those beyond share one
)

// guesses counts the wrong passwords of addresses and of users in fixed windows.
type guesses struct {
	mu        sync.Mutex
	ends      time.Time
	addresses map[string]int
	users     map[string]int
}

func newGuesses() *guesses { return &guesses{} }

// take counts a guess, and reports whether both still have one.
func (g *guesses) take(now time.Time, from, user string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.addresses == nil || !now.Before(g.ends) || g.ends.Sub(now) > guessWindow { // the last: the clock went back
		g.ends, g.addresses, g.users = now.Add(guessWindow), map[string]int{}, map[string]int{}
	}
	address, name := windowOf(g.addresses, network(from)), windowOf(g.users, user)
	if g.addresses[address] >= guessesOfAddress || g.users[name] >= guessesOfUser {
		return false
	}
	g.addresses[address]++
	g.users[name]++
	return true
}

// giveBack takes a guess back that was none.
func (g *guesses) giveBack(from, user string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for counts, key := range map[*map[string]int]string{&g.addresses: network(from), &g.users: user} {
		if key = windowOf(*counts, key); (*counts)[key] > 0 {
			(*counts)[key]--
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
