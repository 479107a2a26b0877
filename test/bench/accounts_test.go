//go:build bench

package bench

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"testing"
	"time"

	"reckon/internal/identity"
	"reckon/internal/passwords"
	"reckon/internal/ratelimit"
	"reckon/projections/pgtest"
)

// peopleOf opens identity tables.
func peopleOf(b *testing.B, address string) *identity.Store {
	b.Helper()
	db, err := identity.Open(b.Context(), identity.Where{Address: address, Schema: "identity", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	return identity.New(db, time.Now, identity.DefaultRules(), passwords.NewHasher(passwords.Standard))
}

// BenchmarkFailedSignIns alternates 1,000 failed sign-ins to a registered address with 1,000 to one that nobody registered. Goal: the
// means differ by less than three standard errors, the noise of the measurement: known/unknown-sigmas below 3.
func BenchmarkFailedSignIns(b *testing.B) {
	const each = 1000
	people := peopleOf(b, "sqlite:"+filepath.Join(b.TempDir(), "identity.db"))
	if _, err := people.Register(b.Context(), "known@example.com", "correct horse", func(context.Context, string) error { return nil }); err != nil {
		b.Fatal(err)
	}
	attempt := func(email string) float64 {
		begun := time.Now()
		if _, err := people.SignIn(b.Context(), email, "wrong horse", identity.Client{}, nil); err == nil {
			b.Fatal("signed in")
		}
		return time.Since(begun).Seconds() * 1000
	}
	var known, unknown sample
	for i := range each {
		// Which comes first changes, so that neither follows the other's caches.
		if i%2 == 0 {
			known.add(attempt("known@example.com"))
			unknown.add(attempt(fmt.Sprintf("nobody-%d@example.com", i%7)))
		} else {
			unknown.add(attempt(fmt.Sprintf("nobody-%d@example.com", i%7)))
			known.add(attempt("known@example.com"))
		}
	}
	b.ReportMetric(known.mean(), "known-ms")
	b.ReportMetric(unknown.mean(), "unknown-ms")
	b.ReportMetric(known.sigmasFrom(unknown), "known/unknown-sigmas")
}

// BenchmarkCountingARequest compares counting a request against the limit of a minute, in a database that processes share, with one
// password hash of a sign-in, which no request of a token needs, and a request that is one too many with one that counts. Goals:
// counting at most 0.1 of a hash; refusing at most 0.1 of counting.
func BenchmarkCountingARequest(b *testing.B) {
	for name, address := range map[string]string{"sqlite": "sqlite:" + filepath.Join(b.TempDir(), "identity.db"), "postgres": pgtest.Database(b)} {
		b.Run(name, func(b *testing.B) {
			people := peopleOf(b, address)
			limiter := ratelimit.NewShared(people.Windows(), func(err error) { b.Error(err) })
			count := func(key string, rule ratelimit.Rule) func() error {
				return func() error { _, err := limiter.Count(b.Context(), key, rule, time.Now()); return err }
			}
			const requests = 500
			counted := median(sortedLatencies(b, requests, count("many", ratelimit.Rule{Requests: 1 << 30, Window: time.Hour})))
			refused := median(sortedLatencies(b, requests, count("few", ratelimit.Rule{Requests: 1, Window: time.Hour})))
			hash := median(sortedLatencies(b, 20, func() error {
				_, err := people.IsPassword(b.Context(), "nobody", "wrong horse")
				return err
			}))
			b.ReportMetric(float64(counted)/float64(hash), "count/hash")
			b.ReportMetric(float64(refused)/float64(counted), "refused/count")
			b.ReportMetric(ms(counted), "count-ms")
		})
	}
}

// sample is measurements of one kind.
type sample struct {
	n           float64
	sum, square float64
}

func (s *sample) add(x float64) {
	s.n++
	s.sum += x
	s.square += x * x
}

func (s *sample) mean() float64 { return s.sum / s.n }

// errorSquare is the square of the mean's standard error.
func (s *sample) errorSquare() float64 { return (s.square/s.n - s.mean()*s.mean()) / s.n }

// sigmasFrom is how far two means lie apart, in standard errors of their difference.
func (s *sample) sigmasFrom(other sample) float64 {
	return math.Abs(s.mean()-other.mean()) / math.Sqrt(s.errorSquare()+other.errorSquare())
}
