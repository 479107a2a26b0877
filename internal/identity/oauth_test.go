package identity_test

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"reckon/domain/scope"
	"reckon/internal/access"
	"reckon/internal/identity"
)

// TestOAuthSecrets: on both dialects a secret is found until it expires, exchanged once whoever comes at the same moment, and gone
// with its grant.
func TestOAuthSecrets(t *testing.T) {
	for name, address := range addresses {
		t.Run(name, func(t *testing.T) {
			db, err := identity.Open(t.Context(), identity.Where{Address: address(t), Schema: "identity", Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			now := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
			s := identity.New(db, func() time.Time { return now }, identity.DefaultRules())
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
				all.Go(func() { used[i] = s.UseOAuthSecret(t.Context(), identity.RefreshToken, "h") })
			}
			all.Wait()
			first := 0
			for _, err := range used {
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
