package apitest

import (
	"sync"
	"testing"
	"time"

	"reckon/internal/identity"
	"reckon/internal/ratelimit"
	"reckon/test/shared"
)

// Shared is a server that the tests of a package share. It offers what a test can do without changing what another one sees: requests, by
// accounts of its own. A test that asks for a setting, moves the clock, takes a part away, or looks at what all accounts have in common, such
// as the limits of an address, starts a server.
type Shared struct{ server *Server }

// Share returns the server that the tests of this package share, with Options{}. The package's TestMain calls shared.Run, which ends it.
func Share(t testing.TB) Shared {
	t.Helper()
	life := shared.Life(t)
	sharing.Do(func() {
		// As many accounts as all tests of the package register, however often they are repeated: the clock stands still.
		one = Start(life, Options{Rules: identity.Rules{
			Registrations: ratelimit.Rule{Requests: 1_000_000, Window: time.Hour}, SignIns: ratelimit.Rule{Requests: 1_000_000, Window: time.Minute},
		}})
	})
	return Shared{one}
}

var (
	sharing sync.Once
	one     *Server
)

// Do is Server.Do.
func (s Shared) Do(t testing.TB, method, path, body string, headers ...string) Answer {
	t.Helper()
	return s.server.Do(t, method, path, body, headers...)
}

// NewUser is Server.NewUser.
func (s Shared) NewUser(t testing.TB) *User {
	t.Helper()
	return s.server.NewUser(t)
}

// URL is the server's address.
func (s Shared) URL() string { return s.server.URL }
