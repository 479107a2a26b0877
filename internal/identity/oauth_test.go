package identity_test

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"reckon/domain/scope"
	"reckon/internal/access"
	"reckon/internal/identity"
	"reckon/internal/passwords/passwordstest"
)

// TestOAuthSecrets: on both dialects a secret is found until it expires, exchanged once whoever comes at the same moment, and gone
// with its grant.
func TestOAuthSecrets(t *testing.T) {
	t.Parallel()
	for name, address := range addresses {
		t.Run(name, func(t *testing.T) {
			db, err := identity.Open(t.Context(), identity.Where{Address: address(t), Schema: "identity", Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			now := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
			s := identity.New(db, func() time.Time { return now }, identity.DefaultRules(), passwordstest.NewHasher())
			client := identity.OAuthClient{ID: "c", Name: "n", RedirectURIs: []string{"https://a.example/"}}
			if err := s.AddOAuthClient(t.Context(), client); err != nil {
				t.Fatal(err)
			}
			if got, err := s.OAuthClient(t.Context(), "c"); err != nil || got.Name != "n" || len(got.RedirectURIs) != 1 {
				t.Errorf("%+v, %v", got, err)
			}
			if _, err := s.OAuthClient(t.Context(), "d"); !errors.Is(err, identity.ErrNoOAuthClient) {
				t.Error(err)
			}
			for i := range identity.MaxGrants {
				if err := s.AddOAuthGrant(t.Context(), fmt.Sprint("g", i), "a", "c"); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.AddOAuthGrant(t.Context(), "more", "a", "c"); !errors.Is(err, identity.ErrTooManyGrants) {
				t.Error(err)
			}
			secret := identity.OAuthSecret{
				Hash: "h", Kind: identity.RefreshToken, GrantID: "g1", Account: "a", ClientID: "c", Scopes: scope.Of(scope.Verify), Resource: access.API, ExpiresAt: now.Add(time.Minute),
			}
			if err := s.AddOAuthSecret(t.Context(), secret); err != nil {
				t.Fatal(err)
			}
			got, err := s.OAuthSecretOf(t.Context(), identity.RefreshToken, "h")
			if got.ExpiresAt = got.ExpiresAt.UTC(); err != nil || got != secret {
				t.Errorf("%+v, %v", got, err)
			}
			if _, err := s.OAuthSecretOf(t.Context(), identity.AccessToken, "h"); !errors.Is(err, identity.ErrNoOAuthSecret) {
				t.Errorf("as another kind: %v", err)
			}
			var all sync.WaitGroup
			used := make([]error, 8)
			for i := range used {
				next := secret
				next.Hash = fmt.Sprint("next", i)
				all.Go(func() { used[i] = s.ExchangeOAuthSecret(t.Context(), secret, next) })
			}
			all.Wait()
			first := 0
			for i, err := range used {
				_, kept := s.OAuthSecretOf(t.Context(), identity.RefreshToken, fmt.Sprint("next", i))
				if (err == nil) != (kept == nil) {
					t.Errorf("exchanged: %v; what replaces it: %v", err, kept)
				}
				switch {
				case err == nil:
					first++
				case !errors.Is(err, identity.ErrOAuthSecretUsed):
					t.Error(err)
				}
			}
			if got, err = s.OAuthSecretOf(t.Context(), identity.RefreshToken, "h"); first != 1 || err != nil || !got.Used {
				t.Errorf("used %d times, %+v, %v", first, got, err)
			}
			if err := s.GrantUsed(t.Context(), "g1"); err != nil {
				t.Error(err)
			}
			if err := s.ForgetOAuthGrant(t.Context(), "g2"); err != nil {
				t.Error(err)
			}
			grants, err := s.OAuthGrants(t.Context(), "a")
			if err != nil || len(grants) != identity.MaxGrants-1 {
				t.Errorf("%d grants, %v", len(grants), err)
			}
			if err := s.ForgetOAuthGrant(t.Context(), "g1"); err != nil {
				t.Error(err)
			}
			if _, err := s.OAuthSecretOf(t.Context(), identity.RefreshToken, "h"); !errors.Is(err, identity.ErrNoOAuthSecret) {
				t.Errorf("after its grant: %v", err)
			}
			if err := s.AddOAuthSecret(t.Context(), secret); err != nil {
				t.Fatal(err)
			}
			now = now.Add(time.Minute)
			if _, err := s.OAuthSecretOf(t.Context(), identity.RefreshToken, "h"); !errors.Is(err, identity.ErrNoOAuthSecret) {
				t.Errorf("after it has expired: %v", err)
			}
		})
	}
}

// TestClientsNobodyApprovedAreBounded: the newest ten thousand or so are kept, an approved one for good, and one registration in a hundred
// looks at more than its own row.
func TestClientsNobodyApprovedAreBounded(t *testing.T) {
	t.Parallel()
	db, err := identity.Open(t.Context(), identity.Where{Address: addresses["sqlite"](t), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	now := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	s := identity.New(db, func() time.Time { now = now.Add(time.Second); return now }, identity.DefaultRules(), passwordstest.NewHasher())
	add := func(i int) {
		t.Helper()
		if err := s.AddOAuthClient(t.Context(), identity.OAuthClient{ID: fmt.Sprint(i), RedirectURIs: []string{"https://a.example/"}}); err != nil {
			t.Fatal(err)
		}
	}
	add(0)
	if err := s.AddOAuthGrant(t.Context(), "g", "a", "0"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10150)
		INSERT INTO identity_oauth_clients (id, name, redirect_uris, approved, created_at) SELECT 'old' || i, '', '[]', FALSE, i FROM n`); err != nil {
		t.Fatal(err)
	}
	for i := 1; i < 2*identity.ClientSweepEvery; i++ {
		add(i)
	}
	kept, err := db.NewSelect().Table("identity_oauth_clients").Where("NOT approved").Count(t.Context())
	if err != nil || kept != identity.MaxUnapprovedClients {
		t.Errorf("%d are kept, %v", kept, err)
	}
	for _, id := range []string{"0", "1", fmt.Sprint(2*identity.ClientSweepEvery - 1), "old10150"} {
		if _, err := s.OAuthClient(t.Context(), id); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	if _, err := s.OAuthClient(t.Context(), "old1"); !errors.Is(err, identity.ErrNoOAuthClient) {
		t.Errorf("the oldest: %v", err)
	}
}

// TestClientRegistrationsAreCountedByNetwork: who has a network has as many addresses as it likes.
func TestClientRegistrationsAreCountedByNetwork(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, s *identity.Store, _ *bun.DB, _ *clock) {
		allowed := func(address string) bool {
			t.Helper()
			a, err := s.CountClientRegistration(t.Context(), address)
			if err != nil {
				t.Fatal(err)
			}
			return a.Allowed
		}
		registered := 0
		for i := range 300 {
			if allowed(fmt.Sprintf("2001:db8:0:%x::/64", i)) {
				registered++
			}
		}
		if registered != 200 {
			t.Errorf("%d registrations from one network", registered)
		}
		registered = 0
		for range 30 {
			if allowed("2001:db8:1::/64") {
				registered++
			}
		}
		if registered != 20 {
			t.Errorf("%d registrations from one address", registered)
		}
	})
}
